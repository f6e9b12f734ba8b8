/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two traces as one, A and B: a function of both is one by its name, and B's times are moved so that the first
 * hits coincide, or the beginnings where one has no hit. A track's `side` is 0 or 1, and `shift` what its times
 * were moved by.
 */

function firstTime({threads}) {
	return threads.reduce((least, track) => Math.min(least, track.cnt ? track.start[0] : Infinity, track.instants[0]?.[0] ?? Infinity), Infinity);
}

/* B as if it had been recorded beside A. */
function moveBeside(a, b) {
	const hits = a.hits.length && b.hits.length, [at, from] = hits ? [a.hits[0].time, b.hits[0].time] : [firstTime(a), firstTime(b)];
	const shift = Number.isFinite(at - from) ? at - from : 0, first = NOT_CALLS.length, more = a.symbols.length - first;
	const symbol = number => number === null || number < first ? number : number + more;

	for (const track of b.threads) {
		Object.assign(track, {side: 1, shift});
		track.start.forEach((time, i) => track.start[i] = time + shift);
		track.symbol.forEach((number, i) => track.symbol[i] = symbol(number));
		track.instants.forEach(instant => {
			instant[0] += shift;
			if (instant.length > 4)
				instant[4] += a.stacks.length;
		});
	}
	for (const hit of b.hits)
		Object.assign(hit, {side: 1, shift, time: hit.time + shift, symbol: symbol(hit.symbol),
			stack: hit.stack.map(([ip, number, offset]) => [ip, symbol(number), offset])});
	for (const counter of b.counters)
		counter.points.forEach(point => point[0] += shift);
	b.flows = b.flows.map(([from, begin, to, end]) => [from + a.threads.length, begin + shift, to + a.threads.length, end + shift]);
	return {symbols: b.symbols.slice(first), alignedAtHits: Boolean(hits)};
}

/* Of two that were read: a Trace's content. */
function joinTraces(a, b) {
	const {symbols, alignedAtHits} = moveBeside(a, b), both = name => a[name].concat(b[name]);

	[a, b].forEach((trace, side) => {
		for (const named of trace.threads.concat(trace.counters))
			named.name = `${'AB'[side]}: ${named.name}`;
		/* The two threads that were hit stand above each other. */
		for (const track of trace.threads)
			track.pinned = track.pid === trace.hits[0]?.pid && track.tid === trace.hits[0]?.tid;
	});
	const sources = {...b.sources};

	for (const [file, blocks] of Object.entries(a.sources))
		sources[file] = blocks.concat(sources[file] ?? []);
	return {...a, sources, compares: true, alignedAtHits, command: `A: ${a.command}  B: ${b.command}`, symbols: a.symbols.concat(symbols), stacks: both('stacks'),
		threads: both('threads'), hits: both('hits'), counters: both('counters'), flows: both('flows').sort((x, y) => x[1] - y[1])};
}

const signed = (value, text) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${text(Math.abs(value))}`;

/* What is compared, how it is told exactly, and in a column. */
const COMPARED = {calls: [value => value.toLocaleString('en'), value => value.toLocaleString('en')], total: [exactText, shortText], self: [exactText, shortText]};

/* Cells for A, B and how much more A has. */
function comparedCells(what, a, b) {
	const [exact, short] = COMPARED[what], cell = (value, text) => el('td', {title: text(value, exact)}, text(value, short));
	const plain = (value, text) => text(value);

	return [cell(a, plain), cell(b, plain), cell(a - b, signed)];
}

/* The functions of a range: [{id, a, b}], each side a row of Trace.statistics(). */
function comparedRows(trace, range) {
	const none = {calls: 0, total: 0, self: 0, slowest: 0};
	const [a, b] = [0, 1].map(side => new Map(trace.statistics(trace.threads.filter(track =>
		track.side === side && (!range.track || track === range.track)), range.from, range.to).map(row => [row.id, row])));

	return [...new Set([...a.keys(), ...b.keys()])].map(id => ({id, a: a.get(id) ?? none, b: b.get(id) ?? none}));
}

/* A table of them with what is compared in three columns, the greatest difference first. */
function comparedTable(functions, rows, what, chooses, go) {
	const SHOWN = 1000, difference = row => row.a[what] - row.b[what];
	const most = rows.reduce((most, row) => Math.max(most, Math.abs(difference(row))), 0) || 1;
	const choose = el('select', {ariaLabel: 'What is compared', onchange: () => chooses(choose.value)},
		...Object.keys(COMPARED).map(name => el('option', {value: name, selected: name === what}, name)));

	rows.sort((x, y) => Math.abs(difference(y)) - Math.abs(difference(x)));
	return [el('div', {className: 'row'}, choose), el('table', {className: 'compared'},
		el('thead', {}, el('tr', {}, ...['function', 'A', 'B', 'A − B'].map(text => el('th', {}, text)))),
		el('tbody', {}, ...rows.slice(0, SHOWN).map(row => {
			const name = functions[row.id], cell = el('td', {title: name}, name);

			cell.style.setProperty('--share', `${Math.abs(difference(row)) / most * 100}%`);
			return el('tr', {className: 'go', tabIndex: 0, onclick: () => go(row)}, cell, ...comparedCells(what, row.a[what], row.b[what]));
		})))];
}

/* The same of a path, as pairs for a list. */
function comparedPath(paths, path) {
	return Object.entries(COMPARED).map(([what, [exact]]) => {
		const [a, b] = paths.sides(path, what);

		return [what, `A ${exact(a)}, B ${exact(b)}: ${signed(a - b, exact)}`];
	});
}
