/* SPDX-License-Identifier: BSD-2-Clause */
/* The drawing, and what is where in it. */

class Chart extends Counters {
	constructor(trace) {
		super();
		this.trace = trace;
		this.canvas = byId('timeline');
		this.context = this.canvas.getContext('2d');
		this.overview = byId('overview');
		this.from = trace.begin;
		this.to = trace.end;
		this.width = this.height = this.scroll = 0;
		this.hit = trace.hits[0];
		this.selected = null; /* {track, slice} */
		this.range = null;    /* {from, to, track} */
		this.matched = null;  /* which functions are sought, by number */
		this.matches = null;  /* by thread: rows of slices that are sought */
		this.notes = [];      /* {time, text}, in order */
		this.event = null;    /* {track, instant, other} that the panel tells of; other: otherEnd() */
		this.frameMs = 0;
		this.setTheme();
		this.layout();
		new ResizeObserver(() => this.resize()).observe(this.canvas);
		this.resize();
	}

	setTheme() {
		const style = getComputedStyle(document.documentElement);
		const dark = document.documentElement.dataset.theme === 'dark';

		this.ink = {};
		for (const name of ['back', 'raised', 'line', 'text', 'dim', 'accent', 'match', 'link', 'veil'])
			this.ink[name] = style.getPropertyValue('--' + name);
		this.ink.merged = dark ? '#4d5563' : '#c6ccd5';
		this.colours = palette(this.trace.functions, dark);
		const [back, line] = dark ? ['#2b313b', '#657184'] : ['#e6e9ee', '#98a1af'];
		this.patterns = [pattern(this.context, back, line, 1), pattern(this.context, back, line, -1),
			pattern(this.context, back, line, 0), back, pattern(this.context, back, line, 1)];
	}

	/* The colour of what took a in A and b in B: the redder, the more A took; the bluer, the more B. */
	contrast(a, b) {
		const part = (a - b) / (a + b || 1), dark = document.documentElement.dataset.theme === 'dark';

		return `oklch(${dark ? .42 : .88 - Math.abs(part) * .1} ${Math.abs(part) * .13} ${part > 0 ? 28 : 255})`;
	}

	resize() {
		for (const canvas of [this.canvas, this.overview]) {
			canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
			canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
		}
		this.width = this.canvas.clientWidth || this.width; /* it may be hidden */
		this.height = this.canvas.clientHeight || this.height;
		this.layCounters();
		this.skyline = null;
		this.draw();
	}

	layout() {
		let top = 0;

		this.tracks = this.trace.threads.filter(track => !track.hidden).sort((a, b) => Boolean(b.pinned) - Boolean(a.pinned));
		for (const track of this.tracks) {
			track.top = top;
			track.height = HEAD + (track.collapsed ? 0 : track.depths * ROW + 8);
			top += track.height;
		}
		this.total = top;
		this.layCounters();
	}

	get span() {
		return this.to - this.from;
	}

	x(time) {
		return (time - this.from) / this.span * this.width;
	}

	timeAt(x) {
		return this.from + x / this.width * this.span;
	}

	/* Where keys zoom: at what is selected, or the hit, as far as that is in sight. */
	get centre() {
		const {selected, hit} = this, x = selected ? this.x(selected.track.start[selected.slice]) : hit ? this.x(hit.time) : -1;

		return x >= 0 && x <= this.width ? x : this.width / 2;
	}

	rowY(track, row) {
		return this.head + track.top + HEAD + row * ROW - this.scroll;
	}

	/* Any of these may go beyond the trace: it is kept in sight. */
	show(from, to) {
		const {begin, end} = this.trace;
		const span = Math.min(Math.max(to - from, SPAN_MIN), (end - begin) * 1.2 + SPAN_MIN);
		const middle = Math.min(Math.max((from + to) / 2, begin), end);

		this.from = middle - span / 2;
		this.to = middle + span / 2;
		this.invalidate();
	}

	zoom(factor, x = this.width / 2) {
		const at = this.timeAt(x), span = Math.max(this.span * factor, SPAN_MIN);

		this.show(at - x / this.width * span, at + (1 - x / this.width) * span);
	}

	pan(part) {
		this.show(this.from + part * this.span, this.to + part * this.span);
	}

	scrollTo(y) {
		this.scroll = Math.max(0, Math.min(y, this.total + 20 - this.room));
		this.invalidate();
	}

	showWhole() {
		const margin = (this.trace.end - this.trace.begin) * .02;

		this.show(this.trace.begin - margin, this.trace.end + margin);
	}

	unfold(track) {
		if (track.collapsed || track.hidden) {
			track.collapsed = track.hidden = false;
			this.layout();
		}
	}

	/* To a moment at the head of a thread, if it is not in sight. */
	revealTime(track, time) {
		this.unfold(track);
		if (time < this.from || time > this.to)
			this.show(time - this.span / 2, time + this.span / 2);
		if (track.top < this.scroll || track.top + HEAD > this.scroll + this.room)
			this.scrollTo(track.top - this.room / 2);
		this.invalidate();
	}

	/* Moves only as far as is needed to see it. */
	reveal(track, slice) {
		const start = track.start[slice], end = track.end(slice), {room} = this;

		this.unfold(track);
		const y = track.top + HEAD + track.level[slice] * ROW;

		if (end < this.from || start > this.to || (end - start) / this.span * this.width < 2) {
			const span = Math.max(Math.min(this.span, (end - start) * 40), (end - start) * 3, SPAN_MIN);

			this.show((start + end - span) / 2, (start + end + span) / 2);
		}
		if (y < this.scroll + HEAD || y + ROW > this.scroll + room)
			this.scrollTo(y - room / 2);
		this.invalidate();
	}

	/* The calls that led up to the hit, and a bit of what follows. */
	showHit(hit) {
		const {track, slice} = hit;
		const first = track ? Math.max(track.firstFrom(hit.time) - 40, 0) : 0;
		const before = track && track.cnt ? Math.max(hit.time - track.start[first], 100) : this.span * .75;
		const row = slice >= 0 ? track.level[slice] : 0;

		const after = Math.min(before * .35, this.trace.end - hit.time + before * .12);

		this.hit = hit;
		this.show(hit.time - before * 1.05, hit.time + after);
		if (track)
			this.scrollTo(Math.max(track.top, track.top + HEAD + row * ROW - this.room * .7));
	}

	invalidate() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			this.draw();
		});
	}

	/* ---- drawing ---- */

	wipe(canvas) {
		const context = canvas.getContext('2d');

		context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
		context.fillStyle = this.ink.back;
		context.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
		context.font = FONT;
		context.textBaseline = 'middle';
		return context;
	}

	draw() {
		const began = performance.now();

		this.wipe(this.canvas);
		this.charWidth = this.context.measureText('0').width;
		for (const track of this.tracks)
			if (track.top + track.height > this.scroll && track.top < this.scroll + this.room)
				this.drawTrack(track);
		this.drawFlows();
		this.drawCounters();
		this.drawNotes();
		this.drawHits();
		this.drawRange();
		this.drawRuler();
		this.drawScroll();
		this.drawOverview();
		this.frameMs = performance.now() - began;
		this.drawn?.();
	}

	drawTrack(track) {
		const {context, ink} = this, first = Math.max(0, Math.floor((this.scroll - track.top - HEAD) / ROW));
		const matches = this.matches?.get(track);
		const last = track.collapsed ? 0 : Math.min(track.depths, first + Math.ceil(this.height / ROW) + 1);

		context.globalAlpha = matches ? .4 : 1;
		for (let row = first; row < last; row++)
			this.drawRow(track, row, track.rows[row], null);
		context.globalAlpha = 1;
		for (let row = first; matches && row < last; row++)
			this.drawRow(track, row, matches[row] || [], ink.match);
		this.drawSelected(track);
		this.drawHead(track);
		this.drawInstants(track);
	}

	drawHead(track) {
		this.drawTitle(this.titleY(track), `${track.collapsed ? '▸' : '▾'} ${track.name}`,
			`pid ${track.pid}  tid ${track.tid}  ${countText(track.cnt, 'call')}`);
	}

	/* Where the title of a thread is: at the edge as long as some of it is in sight. */
	titleY({top, height}) {
		return this.head + Math.min(Math.max(top - this.scroll, 0), top + height - HEAD - this.scroll);
	}

	drawTitle(y, text, more) {
		const {context, ink} = this;

		context.fillStyle = ink.raised;
		context.fillRect(0, y, this.width, HEAD - 2);
		context.fillStyle = ink.line;
		context.fillRect(0, y, this.width, 1);
		context.fillStyle = ink.text;
		context.fillText(text, 8, y + HEAD / 2);
		context.fillStyle = ink.dim;
		context.fillText(more, 8 + (text.length + 2) * this.charWidth, y + HEAD / 2);
	}

	/*
	 * The slices of a row that can be seen: each that is a pixel wide or more by itself, runs of narrower
	 * ones as one box (slice -1).
	 */
	boxes(track, row, box) {
		const {start, duration} = track, scale = this.width / this.span;
		let k = search(0, row.length, at => track.end(row[at]) >= this.from);

		while (k < row.length && start[row[k]] <= this.to) {
			const x = (start[row[k]] - this.from) * scale, width = duration[row[k]] * scale;
			let right = Math.floor(x) + 1, next = k + 1;

			if (width >= 1) {
				box(x, width, row[k++]);
				continue;
			}
			for (;;) {
				const limit = this.from + right / scale;

				/* Only the last that begins in this pixel can be a wide one. */
				next = this.skip(start, row, next, limit);
				if (next > k + 1 && duration[row[next - 1]] * scale >= 1) {
					next--;
					break;
				}
				if (next >= row.length || duration[row[next]] * scale >= 1 ||
				    (start[row[next]] - this.from) * scale > right + 1 || right > this.width)
					break;
				right = Math.floor((start[row[next]] - this.from) * scale) + 1;
				next++;
			}
			box(Math.floor(x), right - Math.floor(x), next - k === 1 ? row[k] : -1);
			k = next;
		}
	}

	/* The first in row from k on that begins at `time` or later; most often it is near. */
	skip(start, row, k, time) {
		let step = 1;

		while (k + step < row.length && start[row[k + step]] < time)
			step *= 2;
		return search(k, Math.min(k + step, row.length), at => start[row[at]] >= time);
	}

	drawRow(track, row, slices, colour) {
		const {context} = this, y = this.rowY(track, row);

		this.boxes(track, slices, (x, width, i) => {
			const left = Math.max(x, -2), right = Math.min(x + width, this.width + 2);

			context.fillStyle = this.fill(track, i);
			context.fillRect(left, y, right - left > 3 ? right - left - 1 : right - left, ROW - 1);
			if (colour) {
				context.fillStyle = colour;
				context.fillRect(left, y + ROW - 4, Math.max(right - left - 1, 1), 3);
			}
			if (i >= 0 && right - left > 3 * this.charWidth)
				this.drawLabel(track, i, left, right, y);
		});
	}

	fill(track, i) {
		if (i < 0)
			return this.ink.merged;
		return this.patterns[track.symbol[i]] || this.colours[this.trace.shownAt(track, i)];
	}

	drawLabel(track, i, left, right, y) {
		const {context} = this, flags = track.flags[i];
		const mark = `${flags & INFERRED_START ? '◂' : ''}${flags & SAMPLED ? '~' : ''}${flags & INLINED ? '·' : ''}`, name = this.trace.label(track, i);
		const from = Math.max(left, 0) + 4, room = Math.floor((Math.min(right, this.width) - from - 3) / this.charWidth);

		if (room < mark.length + 2)
			return;
		context.fillStyle = track.symbol[i] < NOT_CALLS.length ? this.ink.dim : this.ink.text;
		context.fillText(mark + fitName(name, room - mark.length), from, y + ROW / 2);
		if (flags & OPEN_END && right - from > (mark.length + name.length + 2) * this.charWidth && right <= this.width)
			context.fillText('▸', right - 9, y + ROW / 2);
	}

	drawSelected(track) {
		const {context, selected} = this;

		if (track.collapsed || selected?.track !== track)
			return;
		const left = Math.max(this.x(track.start[selected.slice]), -4);
		const right = Math.min(this.x(track.end(selected.slice)), this.width + 4);

		context.strokeStyle = this.ink.text;
		context.lineWidth = 2;
		context.strokeRect(left, this.rowY(track, track.level[selected.slice]), Math.max(right - left - 1, 2), ROW - 1);
		context.lineWidth = 1;
	}

	drawScroll() {
		const {room} = this;

		if (this.total <= room)
			return;
		this.context.fillStyle = this.ink.dim;
		this.context.globalAlpha = .5;
		this.context.fillRect(this.width - 6, this.head + this.scroll / this.total * room, 4, Math.max(room / this.total * room, 12));
		this.context.globalAlpha = 1;
	}

	/* ---- the overview: how deep each thread is at each pixel of the whole trace ---- */

	overviewX(time) {
		return (time - this.trace.begin) / (this.trace.end - this.trace.begin) * this.overviewWidth;
	}

	deepest(track, columns) {
		const deepest = new Uint32Array(columns);
		const column = time => Math.min(columns - 1, Math.floor(this.overviewX(time)));

		for (let i = 0; i < track.cnt; i++)
			for (let at = column(track.start[i]); at <= column(track.end(i)); at++)
				deepest[at] = Math.max(deepest[at], track.depth[i] + 1);
		return deepest;
	}

	drawSkyline() {
		const {width, height} = this.overview, columns = this.overview.clientWidth;
		const lanes = Math.min(this.trace.threads.length, 8), lane = (this.overview.clientHeight - 6) / lanes;
		const sheet = el('canvas', {width, height}), context = sheet.getContext('2d');

		context.scale(devicePixelRatio, devicePixelRatio);
		context.fillStyle = this.ink.dim;
		context.globalAlpha = .6;
		this.trace.threads.forEach((track, nth) => {
			const bottom = 4 + (Math.floor(nth * lanes / this.trace.threads.length) + 1) * lane - 1;
			const deepest = this.deepest(track, columns);

			for (let at = 0; at < columns; at++) {
				const tall = Math.sqrt(deepest[at] / (track.depths || 1)) * (lane - 2);

				context.fillRect(at, bottom - tall, 1, tall);
			}
		});
		this.skyline = sheet;
	}

	drawOverview() {
		const {ink} = this, context = this.wipe(this.overview), height = this.overview.clientHeight;

		this.overviewWidth = this.overview.clientWidth;
		if (!this.skyline)
			this.drawSkyline();
		context.drawImage(this.skyline, 0, 0, this.overviewWidth, height);
		for (const hit of this.trace.hits) {
			context.fillStyle = ink.accent;
			context.fillRect(this.overviewX(hit.time) - 1, 0, 2, height);
		}
		const left = this.overviewX(this.from), width = Math.max(this.overviewX(this.to) - left, 3);

		context.fillStyle = ink.veil;
		context.fillRect(left, 0, width, height);
		context.strokeStyle = ink.link;
		context.strokeRect(left + .5, .5, width - 1, height - 1);
	}

	/* ---- what is where ---- */

	trackAt(y) {
		const at = y - this.head + this.scroll;

		return y < this.head ? undefined : this.tracks.find(track => at >= track.top && at < track.top + track.height);
	}

	/* The index of the nearest hit, or -1 where none is near. */
	hitAt(x) {
		const distances = this.trace.hits.map(({time}) => Math.abs(this.x(time) + 2 - x));
		const nearest = Math.min(...distances);

		return nearest < 6 ? distances.indexOf(nearest) : -1;
	}

	/*
	 * The slice, instant or head of a thread there, or null; a slice also where it is up to three pixels
	 * away.
	 */
	at(x, y) {
		const track = this.trackAt(y), time = this.timeAt(x), near = 3 / this.width * this.span;

		if (!track)
			return null;
		if (y < Math.max(this.rowY(track, 0), this.titleY(track) + HEAD)) {
			const instant = track.instants.findIndex(([at]) => Math.abs(at - time) <= near * 1.5);

			return instant >= 0 ? {track, instant} : {track, head: true};
		}
		const row = track.rows[Math.floor((y - this.rowY(track, 0)) / ROW)] || [];
		const k = search(0, row.length, at => track.end(row[at]) >= time);
		const distance = i => i === undefined ? Infinity : Math.max(track.start[i] - time, time - track.end(i), 0);
		const slice = distance(row[k - 1]) < distance(row[k]) ? row[k - 1] : row[k];

		return distance(slice) <= near ? {track, slice} : null;
	}
}
