/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data: Trace as read from the page (output/html.h), Track one thread of it.
 *
 * A thread's slices are columns (typed arrays), in the order in which they began, a caller before what it
 * calls. Those of one row (a depth, or less where recursion is folded) do not overlap, so rows[row] lists them
 * in order of start and of end alike, and what is visible is found by binary search.
 */

const NOT_CALLS = ['syscall', 'untraced', 'off-cpu', 'unknown', 'run-queue']; /* the first symbols */
const INFERRED_START = 1, OPEN_END = 2, INLINED = 4, SAMPLED = 8; /* enum slice_flags */
/* enum hit_reg */
const REGISTERS = ['r15', 'r14', 'r13', 'r12', 'rbp', 'rbx', 'r11', 'r10', 'r9', 'r8', 'rax', 'rcx', 'rdx', 'rsi', 'rdi', '',
	'rip', 'cs', 'eflags', 'rsp', 'ss'];
const REGISTERS_SHOWN = ['rip', 'rsp', 'rbp', 'eflags', 'rax', 'rbx', 'rcx', 'rdx', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11',
	'r12', 'r13', 'r14', 'r15', 'cs', 'ss'];

/* Built in or not: a page may have 100 MB of it. */
function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const letters = atob(text), bytes = new Uint8Array(letters.length);

	for (let i = 0; i < bytes.length; i++)
		bytes[i] = letters.charCodeAt(i);
	return bytes;
}

/* Part by part: the browser inflates one beside the script, which makes the next. */
async function inflate(base64) {
	const CHUNK = 1 << 20; /* a multiple of 4 */
	const gunzip = new DecompressionStream('gzip');
	const inflated = new Response(gunzip.readable).arrayBuffer();
	const writer = gunzip.writable.getWriter();

	for (let at = 0; at < base64.length; at += CHUNK)
		await writer.write(fromBase64(base64.slice(at, at + CHUNK)));
	await writer.close();
	return new Uint8Array(await inflated);
}

class Reader {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	json() {
		const end = this.bytes.indexOf(0, this.at);
		const text = new TextDecoder().decode(this.bytes.subarray(this.at, end));

		this.at = end + 1;
		return JSON.parse(text);
	}

	/* Fills the array with numbers, LEB128 up to 2^53. Most time of opening a page goes by here. */
	column(array) {
		const {bytes} = this, cnt = array.length;
		let {at} = this;

		for (let i = 0; i < cnt; i++) {
			let byte = bytes[at++], value = byte & 127;

			for (let scale = 128; byte > 127; scale *= 128) {
				byte = bytes[at++];
				value += (byte & 127) * scale;
			}
			array[i] = value;
		}
		this.at = at;
		return array;
	}
}

class Track {
	constructor(info, reader) {
		const cnt = info.slices;

		Object.assign(this, info, {cnt, collapsed: false, depths: 0, side: 0, shift: 0});
		this.start = reader.column(new Float64Array(cnt));
		this.duration = reader.column(new Float64Array(cnt));
		this.depth = reader.column(new Uint32Array(cnt));
		this.symbol = reader.column(new Uint32Array(cnt));
		this.flags = reader.column(new Uint8Array(cnt));
		for (let i = 1; i < cnt; i++)
			this.start[i] += this.start[i - 1], this.depth[i] = this.depth[i - 1] + 1 - this.depth[i];
		this.details = new Map(info.details.map(([slice, name, title, about, wokenBy, behind, result]) =>
			[slice, {name, title: title ?? name, about, wokenBy, behind, result}]));
		this.parent = new Int32Array(cnt);
		this.self = this.duration.slice();
		this.link();
		this.level = this.depth; /* the row of each, see fold() */
		this.lay();
	}

	lay() {
		this.rows = this.rowsOf(() => true);
		this.depths = this.rows.length;
	}

	/* Each call `is` true of goes into its caller's row, where it has no box of its own; null: none does. */
	fold(is) {
		this.level = is ? new Uint32Array(this.cnt) : this.depth;
		for (let i = 0; is && i < this.cnt; i++)
			this.level[i] = this.parent[i] < 0 ? 0 : this.level[this.parent[i]] + (is(i) ? 0 : 1);
		this.lay();
	}

	isFolded(i) {
		return this.level !== this.depth && this.parent[i] >= 0 && this.level[this.parent[i]] === this.level[i];
	}

	/* What has a box: the slice, or the caller into which it is folded. */
	boxOf(i) {
		while (this.isFolded(i))
			i = this.parent[i];
		return i;
	}

	/* Who called whom, and what is left of each duration without its calls. */
	link() {
		const open = [];

		for (let i = 0; i < this.cnt; i++) {
			const depth = this.depth[i], parent = depth ? open[depth - 1] : -1;

			open[depth] = i;
			this.parent[i] = parent;
			if (parent >= 0)
				this.self[parent] -= this.duration[i];
		}
	}

	/* For each row, those slices that are wanted and have a box. */
	rowsOf(wanted) {
		const cnts = [], rows = [], {level} = this, has = i => wanted(i) && !this.isFolded(i);

		for (let i = 0; i < this.cnt; i++)
			if (has(i))
				cnts[level[i]] = (cnts[level[i]] || 0) + 1;
		for (let row = 0; row < cnts.length; row++)
			rows.push(new Uint32Array(cnts[row] || 0));
		cnts.fill(0);
		for (let i = 0; i < this.cnt; i++)
			if (has(i))
				rows[level[i]][cnts[level[i]]++] = i;
		return rows;
	}

	get title() {
		return `${this.name}, pid ${this.pid}, tid ${this.tid}`;
	}

	end(i) {
		return this.start[i] + this.duration[i];
	}

	/* The first slice that begins at `time` or later. */
	firstFrom(time) {
		return search(0, this.cnt, i => this.start[i] >= time);
	}

	/* The slices open at `time`, innermost first. */
	openAt(time) {
		const open = [];
		const last = search(0, this.cnt, i => this.start[i] > time) - 1;

		for (let i = last; i >= 0; i = this.parent[i])
			if (this.end(i) >= time)
				open.push(i);
		return open;
	}

	callers(i) {
		const callers = [];

		for (i = this.parent[i]; i >= 0; i = this.parent[i])
			callers.push(i);
		return callers;
	}
}

/* "[malloc: 40 bytes at 0x...]" is one of "malloc", and "[freed: ...]" of "free", as in other formats. */
const eventName = text => (/^\[([^:\]]+)/.exec(text)?.[1] ?? text).replace(/^freed$/, 'free');

/* The first of [from, to) for which `is` is true, where it is true of all behind it; else `to`. */
function search(from, to, is) {
	while (from < to) {
		const middle = (from + to) >>> 1;

		if (is(middle))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* What a page holds, as a plain object with tracks as its threads. */
function readTrace(bytes) {
	const reader = new Reader(bytes), read = reader.json();

	read.threads = read.threads.map(info => new Track(info, reader));
	return read;
}

class Trace {
	constructor(read) {
		Object.assign(this, read, {folds: false});
		this.numberFunctions();
		this.begin = Infinity;
		this.end = -Infinity;
		for (const track of this.threads)
			this.extend(track);
		for (const hit of this.hits) {
			this.placeHit(hit);
			this.cover(hit.time, hit.time);
		}
		for (const counter of this.counters) {
			counter.max = counter.points.reduce((max, [, value]) => Math.max(max, value), 0);
			for (const [time] of counter.points)
				this.cover(time, time);
		}
		if (!(this.end > this.begin))
			[this.begin, this.end] = [Math.min(this.begin, 0), Math.max(this.end, 0) + 1000];
	}

	/* Symbols of one name are one function, and so are details. */
	numberFunctions() {
		const numbers = new Map();
		const number = name => {
			if (!numbers.has(name))
				numbers.set(name, numbers.size);
			return numbers.get(name);
		};

		this.functionOf = Uint32Array.from(this.symbols, ([name]) => number(name));
		this.pauses = new Set(this.functionOf.subarray(0, NOT_CALLS.length)); /* functions that are none */
		for (const track of this.threads) {
			for (const [slice, detail] of track.details) {
				detail.functionNumber = number(detail.name);
				if (track.symbol[slice] < NOT_CALLS.length)
					this.pauses.add(detail.functionNumber);
			}
		}
		this.functions = [...numbers.keys()];
		/* A stub counts for what it jumps to, where that is here under its name. */
		this.folded = Uint32Array.from(this.functions, (name, i) => numbers.get(name.replace(/@plt$/, '')) ?? i);
	}

	cover(from, to) {
		this.begin = Math.min(this.begin, from);
		this.end = Math.max(this.end, to);
	}

	extend(track) {
		for (const i of track.rows[0] || [])
			this.cover(track.start[i], track.end(i));
		for (const [time] of track.instants)
			this.cover(time, time);
	}

	/* Where the allocation of an instant ends, or began, on any thread; null: not in the trace. */
	otherEnd(track, instant) {
		const number = track.instants[instant][3];

		for (const other of number ? this.threads.filter(other => other.side === track.side) : []) {
			const found = other.instants.findIndex((at, i) => at[3] === number && (other !== track || i !== instant));

			if (found >= 0)
				return {track: other, instant: found};
		}
		return null;
	}

	/* The events (no gaps) of a name that are in [from, to) of some threads: {name, cnt, bytes}, the most bytes first. */
	events(tracks, from, to) {
		const rows = new Map();

		for (const {instants} of tracks) {
			for (let i = search(0, instants.length, i => instants[i][0] >= from); i < instants.length && instants[i][0] < to; i++) {
				const [, text, isEvent] = instants[i], name = eventName(text);

				if (!isEvent)
					continue;
				if (!rows.has(name))
					rows.set(name, {name, cnt: 0, bytes: 0});
				rows.get(name).cnt++;
				rows.get(name).bytes += Number(/: (\d+) bytes at /.exec(text)?.[1] ?? 0);
			}
		}
		return [...rows.values()].sort((a, b) => b.bytes - a.bytes || b.cnt - a.cnt);
	}

	/*
	 * The next event of the same name as that at a place {track, instant}, in the order of time and around the
	 * end; `step` -1: the previous one.
	 */
	nextEvent({track, instant}, step) {
		const places = this.placesOf(eventName(track.instants[instant][1]));
		const here = places.findIndex(place => place.track === track && place.instant === instant);

		return places[(here + step + places.length) % places.length];
	}

	/* The last event of that name before `time`, else the first. */
	lastEvent(name, time) {
		const places = this.placesOf(name);

		return places[Math.max(search(0, places.length, i => places[i].at > time) - 1, 0)];
	}

	placesOf(name) {
		return this.threads.flatMap((track, t) => track.instants.flatMap(([at, text, isEvent], instant) =>
			isEvent && eventName(text) === name ? [{track, instant, at, t}] : [])).sort((a, b) => a.at - b.at || a.t - b.t || a.instant - b.instant);
	}

	/* The last wanted call that began before the hit, on any thread; else the first one behind it. */
	nearest(wanted, time) {
		let best = null;

		this.threads.forEach((track, t) => {
			let i = track.firstFrom(time + 1) - 1;

			while (i >= 0 && !wanted[this.functionAt(track, i)])
				i--;
			if (i >= 0 && !(best && this.threads[best[0]].start[best[1]] >= track.start[i]))
				best = [t, i];
		});
		return best ? {track: this.threads[best[0]], slice: best[1]} : null;
	}

	placeHit(hit) {
		const track = this.threads.find(t => t.pid === hit.pid && t.tid === hit.tid && t.side === (hit.side ?? 0));
		const open = track ? track.openAt(hit.time) : [];

		hit.track = track;
		hit.slice = open.find(i => track.symbol[i] === hit.symbol) ?? open[0] ?? -1;
	}

	name(track, i) {
		return track.details.get(i)?.title ?? this.symbols[track.symbol[i]][0];
	}

	/* On its box: without "@plt" where stubs are folded. */
	label(track, i) {
		const name = this.name(track, i);

		return this.folds ? name.replace(/@plt$/, '') : name;
	}

	shownAt(track, i) {
		return this.folds ? this.folded[this.functionAt(track, i)] : this.functionAt(track, i);
	}

	functionAt(track, i) {
		return track.details.get(i)?.functionNumber ?? this.functionOf[track.symbol[i]];
	}

	/* Recursion and stubs in the rows of their callers, or each in its own. */
	fold(folds) {
		this.folds = folds;
		for (const track of this.threads)
			track.fold(folds ? i => this.isRecursion(track, i) : null);
	}

	/* A call of a function by itself, or by its stub. */
	isRecursion(track, i) {
		const of = i => this.folded[this.functionAt(track, i)];

		return track.parent[i] >= 0 && of(i) === of(track.parent[i]);
	}

	/*
	 * Goes through what was open in [from, to), a caller before what it called. enter(track, slice, time
	 * within, what it returned for the caller, or null) is told of each, and leave() of what that returned.
	 */
	walk(tracks, from, to, enter, leave) {
		for (const track of tracks) {
			const open = [], first = track.firstFrom(from);
			const add = i => {
				const time = Math.min(track.end(i), to) - Math.max(track.start[i], from);

				while (open.length && open[open.length - 1].depth >= track.depth[i])
					leave(open.pop().entry);
				open.push({entry: enter(track, i, time, open[open.length - 1]?.entry ?? null), depth: track.depth[i]});
			};

			if (first)
				track.callers(first - 1).reverse().concat(first - 1)
					.filter(i => track.end(i) > from).forEach(add);
			for (let i = first; i < track.cnt && track.start[i] < to; i++)
				add(i);
			while (open.length)
				leave(open.pop().entry);
		}
	}

	/*
	 * What each function took in [from, to) of some threads: calls, total (once where it calls itself)
	 * and self, as far as they are within; `slowest` is the whole duration of one.
	 */
	statistics(tracks, from, to) {
		const rows = new Map();
		const row = id => rows.get(id) || rows.set(id, {id, calls: 0, total: 0, self: 0, slowest: 0, open: 0}).get(id);

		this.walk(tracks, from, to, (track, i, time, caller) => {
			const entry = row(this.functionAt(track, i));

			entry.calls++;
			entry.slowest = Math.max(entry.slowest, track.duration[i]);
			entry.self += time;
			if (caller)
				caller.self -= time;
			if (!entry.open++)
				entry.total += time;
			return entry;
		}, entry => entry.open--);
		return [...rows.values()];
	}

	/* Of the whole trace. */
	get totals() {
		return this.sums ??= this.statistics(this.threads, -Infinity, Infinity);
	}

	/*
	 * The same by call path. Where recursion is folded, what a function calls of itself, directly, is of the same
	 * path, and the time of its stub ("read@plt") is of its path, too.
	 */
	paths(tracks, from, to) {
		const paths = new Paths();

		this.walk(tracks, from, to, (track, i, time, caller) => {
			const called = this.functionAt(track, i), of = this.shownAt(track, i);
			const isFolded = this.folds && caller && paths.of[caller] === of, path = isFolded ? caller : paths.child(caller ?? 0, of);

			paths.add(path, of === called ? 1 : 0, isFolded ? 0 : time, time, track.side);
			paths.add(caller ?? 0, 0, caller ? 0 : time, caller ? -time : 0, track.side);
			return path;
		}, () => {});
		return paths;
	}

	/* The longest call of a function that was open in [from, to) of some threads, or null. */
	slowest(tracks, from, to, of) {
		let best = null, longest = -1;

		this.walk(tracks, from, to, (track, slice) => {
			if (this.functionAt(track, slice) === of && track.duration[slice] > longest)
				[best, longest] = [{track, slice}, track.duration[slice]];
		}, () => {});
		return best;
	}

	/*
	 * The next wanted slice from a place {track, slice} on, in the order of time, around the end; -1: the
	 * previous one, 0: the place itself. With how many there are and the how manieth it is. null: none.
	 */
	seek(wanted, from, step) {
		const order = (t, i, u, j) => this.threads[t].start[i] - this.threads[u].start[j] || t - u || i - j;
		const here = from && [this.threads.indexOf(from.track), from.slice];
		let first = null, last = null, before = null, behind = null, cnt = 0, cntBefore = 0, at = 0;

		this.threads.forEach((track, t) => {
			for (let i = 0; i < track.cnt; i++) {
				const side = wanted[this.functionAt(track, i)] ? here ? order(t, i, ...here) : 1 : NaN;

				if (side !== side)
					continue;
				cnt++;
				first = first && order(...first, t, i) < 0 ? first : [t, i];
				last = last && order(...last, t, i) > 0 ? last : [t, i];
				if (side < 0) {
					cntBefore++;
					before = before && order(...before, t, i) > 0 ? before : [t, i];
				} else if (side > 0) {
					behind = behind && order(...behind, t, i) < 0 ? behind : [t, i];
				} else {
					at = 1;
				}
			}
		});
		if (!cnt)
			return null;
		const [t, slice] = !step ? here : step > 0 ? behind || first : before || last;
		const nth = !step ? cntBefore + 1 : step > 0 ? behind ? cntBefore + at + 1 : 1 : before ? cntBefore : cnt;

		return {track: this.threads[t], slice, cnt, nth};
	}
}
