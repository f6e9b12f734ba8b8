/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page: search, the mouse and keys, notes, and its address.
 */

class Page extends Threads {
	constructor(trace) {
		super();
		this.trace = trace;
		this.chart = new Chart(trace);
		this.flame = new Flame(this.chart);
		this.pointer = null; /* where it is over the timeline */
		this.fingers = new Map(); /* by pointer: {x, time} of each that touches the timeline */
		this.sort = {by: 'self', down: true};
		byId('command').textContent = byId('command').title = trace.command;
		document.title = `${trace.hits[0]?.trigger ?? trace.command} – trailcam`;
		this.listen();
		this.listenKeys();
		this.listenSearch();
		this.listenFlame();
		this.listenEdge();
		byId('hits').hidden = !trace.hits.length;
		if (trace.hits.length)
			this.toHit(0);
		else
			this.chart.showWhole(), this.showAbout();
		this.listenAddress();
	}

	/* ---- going about ---- */

	sameFunction(forward) {
		const {selected} = this.chart;

		if (!selected)
			return;
		const found = this.trace.seek({[this.trace.functionAt(selected.track, selected.slice)]: true}, selected, forward ? 1 : -1);

		this.select({track: found.track, slice: found.slice});
	}

	fit() {
		const {selected} = this.chart;

		if (!selected)
			return;
		const {track, slice} = selected, margin = Math.max(track.duration[slice] * .05, SPAN_MIN / 2);

		this.chart.show(track.start[slice] - margin, track.end(slice) + margin);
	}

	/* To the caller, the first call in it, or the neighbour in the row. */
	walk(where) {
		const {selected} = this.chart;

		if (!selected)
			return;
		const {track} = selected, slice = track.boxOf(selected.slice), row = track.rows[track.level[slice]];
		const inside = track.rows[track.level[slice] + 1] ?? [], behind = inside[search(0, inside.length, k => inside[k] > slice)];
		const below = track.boxOf(track.parent[behind]) === slice ? behind : -1;
		const beside = row[search(0, row.length, k => row[k] >= slice) + (where === 'left' ? -1 : 1)] ?? -1;
		const next = where === 'up' ? track.boxOf(track.parent[slice]) : where === 'down' ? below : beside;

		if (next >= 0)
			this.select({track, slice: next});
	}

	clear() {
		byId('search').blur();
		this.setSearch('');
		this.chart.range = this.chart.selected = null;
		this.chart.invalidate();
		if (this.chart.hit)
			this.showHit(this.chart.hit);
		else
			this.showAbout();
	}

	setTheme(theme) {
		document.documentElement.dataset.theme = theme;
		this.chart.setTheme();
		this.chart.resize();
		this.flame.invalidate();
	}

	/* ---- what is shown, as the part of the address behind # ---- */

	get fragment() {
		const {chart, flame, trace} = this, {selected, range} = chart, number = track => trace.threads.indexOf(track);
		const parts = {from: Math.round(chart.from), to: Math.round(chart.to), y: Math.round(chart.scroll),
			q: byId('search').value, call: selected && [number(selected.track), selected.slice],
			range: range && [range.from, range.to, number(range.track)], fold: trace.folds || null, flame: flame.isOpen || null, tree: this.tree && true};

		return new URLSearchParams([...Object.entries(parts).filter(([, value]) => value !== null && value !== ''),
			...chart.notes.map(({time, text}) => ['note', `${time},${text}`])]).toString();
	}

	set fragment(text) {
		const {chart, trace} = this, parts = new URLSearchParams(text);
		const numbers = name => (parts.get(name) ?? '').split(',').map(Number), [from, to] = [...numbers('from'), ...numbers('to')];
		const [thread, slice] = numbers('call'), [begin, end, nth] = numbers('range'), track = trace.threads[thread];

		this.setSearch(parts.get('q') ?? '');
		this.setFolds(parts.has('fold'));
		if (parts.has('call') && slice >= 0 && slice < track?.cnt)
			this.select({track, slice});
		if (parts.has('range') && begin < end)
			this.showRange({from: begin, to: end, track: trace.threads[nth]});
		if (from < to)
			chart.show(from, to);
		if (numbers('y')[0] >= 0)
			chart.scrollTo(numbers('y')[0]);
		if (parts.has('flame'))
			this.toggleFlame();
		chart.notes = parts.getAll('note').map(note => /^(-?\d+),(.*)$/s.exec(note)).filter(found => found)
			.map(([, time, text]) => ({time: Number(time), text})).sort((a, b) => a.time - b.time);
		if (parts.has('tree'))
			this.showTree(this.range);
	}

	/* The address changes a little later than what is shown: browsers limit how often it may. */
	listenAddress() {
		const told = () => location.hash.slice(1);

		if (told())
			this.fragment = told();
		this.chart.drawn = () => {
			clearTimeout(this.telling);
			this.telling = setTimeout(() => history.replaceState(null, '', `#${this.fragment}`), 300);
		};
		addEventListener('hashchange', () => this.fragment = told());
	}

	copyLink() {
		history.replaceState(null, '', `#${this.fragment}`);
		navigator.clipboard?.writeText(location.href).catch(() => {});
		byId('link').textContent = 'Copied';
		setTimeout(() => byId('link').textContent = 'Link', 1500);
	}

	/* ---- notes: they are kept in the address ---- */

	/* A new one at what is selected, the hit, or the middle. */
	addNote() {
		const {chart} = this, note = {time: Math.round(chart.timeAt(chart.centre)), text: ''};

		chart.notes.push(note);
		chart.notes.sort((a, b) => a.time - b.time);
		this.showNotes(note);
	}

	showNotes(note) {
		const {chart} = this, origin = chart.hit?.time ?? 0;
		const go = ({time}) => chart.show(time - chart.span / 2, time + chart.span / 2);
		const line = one => {
			const input = el('input', {value: one.text, ariaLabel: 'Note', placeholder: 'What is here?', oninput: () => (one.text = input.value, chart.invalidate()),
				onkeydown: event => (event.key === 'Escape' || event.key === 'Enter' ? chart.canvas.focus() : null, event.stopPropagation())});

			return el('div', {className: 'row'}, el('button', {onclick: () => go(one)}, timeText(one.time - origin)), input,
				el('button', {ariaLabel: 'Remove', onclick: () => (chart.notes = chart.notes.filter(other => other !== one), this.showNotes())}, '×'));
		};
		const lines = chart.notes.map(line);

		this.panel(this.title(countText(chart.notes.length, 'note')), el('p', {}, chart.hit ? 'Times are from the hit on.' : ''), ...lines);
		lines[chart.notes.indexOf(note)]?.querySelector('input').focus();
		chart.invalidate();
	}

	/* ---- the panel's width ---- */

	listenEdge() {
		const edge = byId('edge'), width = to => document.documentElement.style.setProperty('--panel', `${Math.max(to, 0)}px`);

		edge.onpointerdown = event => edge.setPointerCapture(event.pointerId);
		edge.onpointermove = event => event.buttons & 1 && width(innerWidth - event.clientX);
		edge.ondblclick = () => this.togglePanel();
		edge.onkeydown = event => {
			const step = {ArrowLeft: 20, ArrowRight: -20}[event.key];

			if (step)
				width(byId('panel').offsetWidth + step), event.stopPropagation();
		};
	}

	togglePanel() {
		byId('panel').hidden = !byId('panel').hidden;
	}

	/* ---- search ---- */

	listenSearch() {
		const input = byId('search');

		input.oninput = () => this.search();
		input.onkeydown = event => {
			if (event.key === 'Enter')
				this.toMatch(!event.shiftKey);
			else if (event.key === 'Escape')
				this.clear(), this.chart.canvas.focus();
			event.stopPropagation();
		};
	}

	setSearch(text) {
		if (byId('search').value === text)
			return;
		byId('search').value = text;
		this.search();
	}

	search() {
		const text = byId('search').value.toLowerCase(), {trace, chart} = this;

		chart.sought = text;
		chart.matched = text ? trace.functions.map(name => name.toLowerCase().includes(text)) : null;
		this.matching = chart.matched ? trace.totals.filter(row => chart.matched[row.id]) : [];
		this.matchCnt = this.matching.reduce((cnt, row) => cnt + row.calls, 0);
		this.findMatches();
		byId('count').value = text ? countText(this.matchCnt, 'call') : '';
		this.fresh = true;
		if (text && !this.flame.isOpen)
			this.showMatches();
		chart.invalidate();
		this.flame.invalidate();
	}

	/* The boxes of what is sought. */
	findMatches() {
		const {trace, chart} = this;

		chart.matches = chart.matched && new Map(trace.threads.map(track =>
			[track, track.rowsOf(i => chart.matched[trace.functionAt(track, i)])]));
	}

	/* The functions that were found, over the whole trace; a click leads to the call nearest before the hit. */
	showMatches() {
		const {trace, chart} = this, rows = this.rows = this.matching;
		const events = trace.events(trace.threads, -Infinity, Infinity).filter(({name}) => name.toLowerCase().includes(chart.sought));

		this.panel(this.title(byId('search').value, 'functions with'), this.list([['functions', rows.length.toLocaleString('en')],
			['calls', this.matchCnt.toLocaleString('en')]]), this.eventTable(events),
			this.table(rows, 'slowest', row => this.toNearest({[row.id]: true})));
	}

	toNearest(wanted) {
		const place = this.chart.hit && this.trace.nearest(wanted, this.chart.hit.time);

		this.toFound(this.trace.seek(wanted, place, place ? 0 : 1));
	}

	/* At first the call nearest before the hit; from there on the next or the previous. */
	toMatch(forward) {
		const {matched, selected} = this.chart;

		if (!matched)
			return;
		if (this.fresh)
			this.toNearest(matched);
		else
			this.toFound(this.trace.seek(matched, selected, forward ? 1 : -1));
		this.fresh = false;
	}

	toFound(found) {
		if (!found)
			return;
		byId('count').value = `${found.nth.toLocaleString('en')} of ${found.cnt.toLocaleString('en')}`;
		this.select({track: found.track, slice: found.slice});
	}

	/* ---- mouse ---- */

	listen() {
		const {chart} = this, {canvas} = chart, {overview} = chart;

		canvas.onwheel = event => this.onWheel(event);
		canvas.onpointerdown = event => this.onDown(event);
		canvas.onpointermove = event => this.onMove(event);
		canvas.onpointerup = event => this.onUp(event);
		canvas.onpointercancel = event => {
			this.drag = null;
			this.fingers.delete(event.pointerId);
		};
		canvas.onpointerleave = () => {
			this.pointer = null;
			byId('tip').hidden = true;
		};
		overview.onpointerdown = event => {
			overview.setPointerCapture(event.pointerId);
			this.centre(event);
		};
		overview.onpointermove = event => {
			if (event.buttons & 1)
				this.centre(event);
		};
		byId('earlier').onclick = () => this.toHit(this.nth - 1);
		byId('later').onclick = () => this.toHit(this.nth + 1);
		byId('which').onclick = () => this.toHit(this.nth);
		byId('all').onclick = () => chart.showWhole();
		byId('theme').onclick = () => this.toggleTheme();
		byId('link').onclick = () => this.copyLink();
		byId('threads').onclick = () => this.showThreads();
		byId('keys').onclick = () => this.toggleHelp();
		const dark = matchMedia('(prefers-color-scheme: dark)');

		dark.onchange = () => this.setTheme(dark.matches ? 'dark' : 'light');
	}

	/* A click on the whole trace moves what is shown there. */
	centre(event) {
		const {begin, end} = this.trace, {chart} = this;
		const time = begin + event.offsetX / chart.overview.clientWidth * (end - begin);

		chart.show(time - chart.span / 2, time + chart.span / 2);
	}

	onWheel(event) {
		const unit = event.deltaMode ? 20 : 1, across = event.deltaX * unit, along = event.deltaY * unit;

		event.preventDefault();
		if (event.shiftKey && event.offsetY < this.chart.head)
			this.chart.scrollCounters(along || across);
		else if (event.shiftKey)
			this.chart.scrollTo(this.chart.scroll + (along || across));
		else if (Math.abs(across) > Math.abs(along))
			this.chart.pan(across / this.chart.width);
		else
			this.chart.zoom(Math.exp(along * .002), event.offsetX);
	}

	onDown(event) {
		const {chart} = this;

		if (event.button)
			return;
		chart.canvas.focus();
		chart.canvas.setPointerCapture(event.pointerId);
		if (event.pointerType === 'touch')
			this.fingers.set(event.pointerId, {x: event.offsetX, time: chart.timeAt(event.offsetX)});
		if (this.fingers.size > 1) {
			this.drag = null;
			return;
		}
		this.drag = {x: event.offsetX, y: event.offsetY, from: chart.from, to: chart.to, scroll: chart.scroll, moved: false,
			measures: event.shiftKey || event.offsetY < RULER, track: chart.trackAt(event.offsetY)};
	}

	onMove(event) {
		const {chart, drag} = this, {offsetX: x, offsetY: y} = event;

		if (this.fingers.has(event.pointerId))
			this.fingers.get(event.pointerId).x = x;
		else
			this.pointer = {x, y};
		if (this.fingers.size > 1)
			return this.pinch();
		if (!drag)
			return this.tip(event, this.tipText(x, y));
		drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 3;
		byId('tip').hidden = true;
		if (!drag.moved)
			return;
		if (drag.measures) {
			const times = [drag.x, x].map(at => Math.round(chart.timeAt(at))).sort((a, b) => a - b);

			chart.range = {from: times[0], to: times[1], track: drag.track};
			chart.invalidate();
		} else {
			const moved = (drag.x - x) / chart.width * (drag.to - drag.from);

			chart.show(drag.from + moved, drag.to + moved);
			chart.scrollTo(drag.scroll + drag.y - y);
		}
	}

	/* The times that two fingers touched stay below them. */
	pinch() {
		const {chart} = this, [a, b] = this.fingers.values(), scale = (b.time - a.time) / (b.x - a.x);

		if (scale > 0 && scale < Infinity)
			chart.show(a.time - a.x * scale, a.time + (chart.width - a.x) * scale);
	}

	onUp(event) {
		const {chart, drag} = this;

		this.drag = null;
		this.fingers.delete(event.pointerId);
		if (drag?.moved && drag.measures)
			this.showRange(chart.range);
		else if (drag && !drag.moved)
			this.click(event);
	}

	click(event) {
		const {chart} = this, at = chart.at(event.offsetX, event.offsetY);

		if (event.offsetY < RULER) {
			this.toHit(chart.hitAt(event.offsetX));
		} else if (event.offsetY < chart.head) {
			return;
		} else if (at?.head) {
			at.track.collapsed = !at.track.collapsed;
			chart.layout();
			chart.scrollTo(chart.scroll);
		} else if (at?.instant !== undefined) {
			this.showInstant(at);
		} else if (at) {
			chart.selected = at;
			this.showSlice(at);
		} else {
			chart.selected = chart.range = null;
		}
		chart.invalidate();
	}

	tipText(x, y) {
		const {chart, trace} = this, at = chart.at(x, y), value = at ? null : chart.counterAt(x, y);

		if (value) {
			const [time, number] = value.counter.points[value.point];

			return `${value.counter.name}: ${number.toLocaleString('en')}\nsince ${timeText(time)}`;
		}
		if (!at || at.head)
			return '';
		return at.instant !== undefined ? at.track.instants[at.instant][1] :
			`${trace.label(at.track, at.slice)}\n${timeText(at.track.duration[at.slice])}`;
	}

	tip(event, text) {
		const tip = byId('tip');

		tip.hidden = !text;
		if (tip.hidden)
			return;
		tip.textContent = text;
		tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
	}

	/* ---- keys ---- */

	toggleTheme() {
		this.setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
	}

	toggleHelp() {
		const help = byId('help');

		if (help.open)
			return help.close();
		const arrows = {ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→'};
		const rows = [...this.keys.filter(([, , text]) => text), ['wheel', null, 'zoom at the pointer, as two fingers do; with Shift: scroll'],
			['drag', null, 'move'], ['Shift drag', null, 'measure, and see the functions of that time (or drag on the ruler)'],
			['click', null, 'a call, an instant, a hit on the ruler; a thread’s name folds it']];

		help.replaceChildren(el('h2', {}, 'Keys and mouse'), el('dl', {}, ...rows.flatMap(([names, , text]) =>
			[el('dt', {}, ...names.split(' ').flatMap(name => [el('kbd', {}, arrows[name] || name), ' '])), el('dd', {}, text)])));
		help.onclick = () => help.close();
		help.showModal();
	}

	listenKeys() {
		const {chart} = this, page = () => chart.height * .8;

		/* Names as in KeyboardEvent.key, what is done, and what help says. */
		this.keys = [
			['w s', name => chart.zoom(name === 'w' ? 1 / 1.4 : 1.4, this.pointer?.x ?? chart.centre), 'zoom in and out, at the pointer'],
			['a d', name => chart.pan(name === 'a' ? -.15 : .15), 'move left and right'],
			['PageUp PageDown', name => chart.scrollTo(chart.scroll + (name === 'PageUp' ? -page() : page())), 'scroll'],
			['h', () => this.toHit(this.nth), 'to the hit'],
			[', .', name => this.toHit(this.nth + (name === ',' ? -1 : 1)), 'previous and next hit'],
			['p n', name => this.toHit(this.nth + (name === 'p' ? -1 : 1)), ''],
			['[ ]', name => this.sameFunction(name === ']'), 'previous and next call of the same function'],
			['ArrowUp ArrowDown ArrowLeft ArrowRight', name => this.walk(name.slice(5).toLowerCase()),
				'caller, first call in it, neighbours'],
			['f', () => this.fit(), 'fit the call that is selected'],
			['g', () => this.toggleFlame(), 'flame graph of the range, or of what is in sight, and back'],
			['e', () => this.showTree(this.range), 'call tree of the same; arrows open, close and go about'],
			['r', () => this.foldRecursion(), 'fold recursion and stubs (@plt) into the calls around them, and unfold'],
			['c', () => {}, 'in the flame graph: callers and callees of the function'],
			['0', () => chart.showWhole(), 'the whole trace'],
			['i', () => this.addNote(), 'a note at what is selected, or at the hit; it is kept in the address'],
			['m', () => this.showThreads(), 'threads: which are shown, and on top'],
			['b', () => this.togglePanel(), 'the panel: away and back'],
			['/', () => byId('search').select(), 'search functions; Enter: next call, Shift-Enter: previous'],
			['Enter', (name, event) => this.toMatch(!event.shiftKey), ''],
			['t', () => this.toggleTheme(), 'light or dark'],
			['?', () => this.toggleHelp(), 'this help'],
			['Escape', () => this.clear(), 'clear search and selection'],
		];
		/* What can be clicked there can be reached by Tab, too. */
		byId('panel').addEventListener('keydown', event => {
			if (event.key !== 'Enter' || !event.target.classList.contains('go'))
				return;
			event.preventDefault();
			event.stopPropagation();
			event.target.click();
		});
		document.addEventListener('keydown', event => {
			const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
			const key = this.keys.find(([names]) => names.split(' ').includes(name));

			if (!key || event.ctrlKey || event.altKey || event.metaKey || (byId('help').open && name !== '?') ||
			    (name === 'Enter' && event.target.tagName === 'BUTTON') || event.target.tagName === 'SELECT')
				return;
			event.preventDefault();
			if (!this.flame.isOpen || !this.flameKey(name))
				key[1](name, event);
		});
	}
}

async function start() {
	const dark = matchMedia('(prefers-color-scheme: dark)').matches;

	document.documentElement.dataset.theme = dark ? 'dark' : 'light';
	try {
		const read = await Promise.all(['data', 'other'].map(id => byId(id)).filter(data => data?.textContent)
			.map(async data => readTrace(await inflate(data.textContent.trim()))));
		const trace = new Trace(read.length > 1 ? joinTraces(...read) : read[0]);

		byId('data').remove();
		byId('other')?.remove();
		/* for whoever looks inside: tests, and the browser's console */
		window.trailcam = new Page(trace);
		byId('wait').remove();
		document.documentElement.dataset.ready = 'true';
	} catch (error) {
		byId('wait').textContent = `The trace in this page cannot be shown (${error.message}). It needs a browser of 2023 or later.`;
		throw error;
	}
}

start();
