/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The panel beside the timeline, as it tells of a trace, a hit, a call, an instant. Names come from the traced
 * program and may be anything: they become text, never markup.
 */

const CALLERS_SHOWN = 1000, LINES_BEFORE = 3, LINES_BEHIND = 30; /* user/output/html_sources.c */

class Details {
	panel(...children) {
		this.tree = this.chart.event = null;
		byId('panel').replaceChildren(...children.filter(child => child));
		byId('panel').scrollTop = 0;
		byId('said').textContent = byId('panel').querySelector('h2')?.textContent ?? '';
	}

	title(name, kind) {
		return el('h2', {}, kind ? el('span', {className: 'kind'}, `${kind} `) : null, name);
	}

	list(pairs, className = '') {
		return el('dl', {className}, ...pairs.filter(pair => pair && pair[1] !== '')
			.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, String(value))]));
	}

	/* A line of a call stack; with a slice it leads there. */
	frame(text, below, place) {
		return el('li', place ? {className: 'go', tabIndex: 0, onclick: () => this.select(place)} : {}, text, below ? el('small', {}, below) : null);
	}

	source(symbol) {
		const [, object, file, line] = this.trace.symbols[symbol];

		return file ? `${file}${line ? `:${line}` : ''}` : object;
	}

	showAbout() {
		const {trace} = this;

		this.panel(this.title(trace.command, 'trace of'), this.list([
			['stopped by', trace.stopped_by], ['source', trace.source], ['began', new Date(trace.realtime_ms).toISOString()],
			['duration', timeText(trace.end - trace.begin)], ['threads', trace.threads.length],
			['calls', trace.threads.reduce((cnt, track) => cnt + track.cnt, 0).toLocaleString('en')],
			['compared', trace.compares ? `B is moved so that the ${trace.alignedAtHits ? 'first hits' : 'beginnings'} coincide; times of A` : '']]));
	}

	toHit(nth) {
		const hit = this.trace.hits[nth];

		if (!hit)
			return;
		byId('which').textContent = `hit ${nth + 1} of ${this.trace.hits.length}`;
		byId('earlier').disabled = !nth;
		byId('later').disabled = nth + 1 >= this.trace.hits.length;
		this.nth = nth;
		this.closeFlame();
		this.chart.selected = hit.slice >= 0 ? {track: hit.track, slice: hit.slice} : null;
		this.chart.showHit(hit);
		this.showHit(hit);
	}

	showHit(hit) {
		const hex = value => `0x${value}`, seconds = (hit.time - (hit.shift ?? 0)) / 1e9;
		const decimal = value => BigInt.asIntN(64, BigInt(hex(value)));
		const args = hit.args.map((value, i) => value && [`arg${i}`, `${hex(value)}${value.length > 1 ? ` = ${decimal(value)}` : ''}`]).filter(Boolean);

		this.panel(this.title(hit.symbol === null ? hit.trigger : this.trace.symbols[hit.symbol][0], 'hit'),
			hit.symbol === null ? null : el('p', {}, this.source(hit.symbol)),
			this.list([['trace', this.trace.compares ? 'AB'[hit.side ?? 0] : ''], ['trigger', hit.trigger], ['time', `${seconds.toFixed(9)} s`],
				['took', hit.elapsed ? exactText(hit.elapsed) : ''],
				['thread', `${hit.comm}, pid ${hit.pid}, tid ${hit.tid}`], ['processor', hit.cpu],
				['goroutine', hit.goroutine === '0' ? '' : hit.goroutine],
				['trace stopped', hit.stopped_after ? `${exactText(hit.stopped_after)} after it` : '']]),
			...(args.length ? [el('h3', {}, 'Arguments'), this.list(args)] : []),
			...(hit.values.length ? [el('h3', {}, 'Values'), this.list(hit.values.map(value => [value.name, value.text]))] : []),
			el('h3', {}, 'Call stack'), this.hitStack(hit), ...hit.symbol === null ? [] : this.lines(hit.symbol),
			/* A program that has ended has none. */
			...hit.regs.every(value => value === '0') ? [] : [el('h3', {}, 'Registers'),
				this.list(REGISTERS_SHOWN.map(name => [name, hex(hit.regs[REGISTERS.indexOf(name)])]), 'registers')]);
	}

	/* Finds one of the slices that are open on a track after the other, outwards: its place, or null. */
	outwards(track, open) {
		let first = 0; /* of those that are left */

		return is => {
			const nth = open.findIndex((i, n) => n >= first && is(i));

			first = nth < 0 ? first : nth + 1;
			return nth < 0 ? null : {track, slice: open[nth]};
		};
	}

	/* Frames lead to the slices of their functions that are open at the hit. */
	hitStack(hit) {
		const next = this.outwards(hit.track, hit.slice >= 0 ? [hit.slice, ...hit.track.callers(hit.slice)] : []);

		return el('ol', {}, ...hit.stack.map(([ip, symbol, offset]) => {
			if (symbol === null)
				return this.frame('[unknown]', `0x${ip}`, null);
			return this.frame(this.trace.symbols[symbol][0] + offset, `${ip === '0' ? 'known from the calls' : `0x${ip}`}  ${this.source(symbol)}`,
				next(i => hit.track.symbol[i] === symbol));
		}), ...hit.cut ? [el('li', {}, '… its callers are not known')] : []);
	}

	select(place) {
		this.closeFlame();
		this.chart.selected = place;
		this.chart.reveal(place.track, place.slice);
		this.showSlice(place);
	}

	showSlice({track, slice}) {
		const {trace} = this, symbol = track.symbol[slice], [name, object, file, , address] = trace.symbols[symbol];
		const isCall = symbol >= NOT_CALLS.length, flags = track.flags[slice], hit = this.chart.hit;
		const detail = track.details.get(slice);
		const before = hit ? hit.time - track.start[slice] : 0, isRecursion = trace.isRecursion(track, slice);
		const has = (flag, text) => flags & flag ? el('span', {className: 'flag'}, text) : null;

		this.panel(this.title(detail?.title ?? name),
			has(INFERRED_START, 'began before the trace'), has(OPEN_END, 'goes on behind the trace'), has(INLINED, 'inlined'), has(SAMPLED, 'sampled'),
			this.list([['file', file ? this.source(symbol) : ''], ['object', object],
				...detail ? [['about', detail.about], ['woken by', detail.wokenBy], ['behind', detail.behind], ['result', detail.result ?? '']] : [],
				['address', isCall ? `0x${address}` : ''], ['start', `${((track.start[slice] - track.shift) / 1e9).toFixed(9)} s`],
				hit && [before < 0 ? 'behind hit' : 'before hit', exactText(Math.abs(before))],
				['duration', exactText(track.duration[slice])], ['self', exactText(track.self[slice])],
				['thread', track.title], ['depth', track.depth[slice]]]),
			el('div', {className: 'row'},
				el('button', {onclick: () => this.sameFunction(false), title: '['}, '‹ previous call'),
				el('button', {onclick: () => this.sameFunction(true), title: ']'}, 'next call ›'),
				el('button', {onclick: () => this.fit(), title: 'f'}, 'Fit'), isRecursion ? this.foldButton : null),
			...this.lines(symbol), el('h3', {}, 'Callers'),
			this.callerList(track, slice));
	}

	/* The source around the beginning of a function, where the page has it. */
	lines(symbol) {
		const [, , file, line, , dir] = this.trace.symbols[symbol], from = line - LINES_BEFORE;
		const block = this.trace.sources[dir ? `${dir}/${file}` : file]?.find(([first, lines]) => line >= first && line < first + lines.length);

		if (!block)
			return [];
		const shown = block[1].map((text, i) => [block[0] + i, text]).filter(([number]) => number >= from && number <= line + LINES_BEHIND);

		return [el('h3', {}, 'Source'), el('pre', {className: 'source', tabIndex: 0, ariaLabel: 'Source'}, ...shown.map(([number, text]) =>
			el('span', {className: number === line ? 'here' : ''}, el('small', {}, String(number).padStart(5)), ` ${text}\n`)))];
	}

	/* Callers of one name, one after another, are one line: it leads to the innermost. */
	callerList(track, slice) {
		const {trace} = this, lines = [];

		for (const caller of track.callers(slice)) {
			const name = trace.name(track, caller);

			if (lines.at(-1)?.name === name)
				lines.at(-1).cnt++;
			else
				lines.push({name, caller, cnt: 1});
		}
		return el('ol', {}, ...lines.slice(0, CALLERS_SHOWN).map(({name, caller, cnt}) =>
			this.frame(cnt > 1 ? `${name} ×${cnt.toLocaleString('en')}` : name, this.source(track.symbol[caller]), {track, slice: caller})));
	}

	showInstant({track, instant}) {
		const [time, text, isEvent, , stack] = track.instants[instant], other = this.trace.otherEnd(track, instant);
		const passes = other ? other.track.instants[other.instant][0] - time : 0, place = {track, instant};

		this.panel(this.title(text, isEvent ? 'event' : 'gap'), this.list([['time', `${((time - track.shift) / 1e9).toFixed(9)} s`],
			['thread', track.title], ['lasts', other ? exactText(Math.abs(passes)) : '']]),
			isEvent && el('div', {className: 'row'},
				...[-1, 1].map(step => el('button', {onclick: () => this.toInstant(this.trace.nextEvent(place, step))},
					step < 0 ? '‹ previous' : 'next ›')),
				other && el('button', {onclick: () => this.toInstant(other)}, passes < 0 ? '‹ To its beginning' : 'To its end ›')),
			...stack === undefined ? [] : [el('h3', {}, 'Call stack'), this.eventStack(track, time, this.trace.stacks[stack].split('\n'))]);
		this.chart.event = {...place, other};
		this.chart.invalidate();
	}

	/* Names lead to the slices of that name that are open at the time. */
	eventStack(track, time, names) {
		const next = this.outwards(track, track.openAt(time));

		return el('ol', {}, ...names.map(name => this.frame(name, '', next(i => this.trace.name(track, i) === name))));
	}

	toInstant(place) {
		this.chart.revealTime(place.track, place.track.instants[place.instant][0]);
		this.showInstant(place);
	}
}
