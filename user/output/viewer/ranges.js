/* SPDX-License-Identifier: BSD-2-Clause */
/* The panel as it tells of a range of time: its functions, its call paths, and the flame graph over it. */

class Ranges extends Details {
	/* The range that is measured, or what is in sight. */
	get range() {
		const {chart, trace} = this;

		return chart.range ?? {from: Math.round(Math.max(chart.from, trace.begin)), to: Math.round(Math.min(chart.to, trace.end))};
	}

	threadsOf(range) {
		return range.track ? [range.track] : this.trace.threads;
	}

	/* What is told of a range, above a table; `show` shows it of one thread or all. */
	rangePanel(range, show, pairs, ...below) {
		const {threads} = this.trace;
		const options = [el('option', {value: -1}, 'all threads'), ...threads.map((track, i) =>
			el('option', {value: i, selected: track === range.track}, track.title))];
		const choose = el('select', {ariaLabel: 'Threads', onchange: () => show({...range, track: threads[choose.value]})}, ...options);

		this.chart.range = range;
		this.chart.invalidate();
		if (this.flame.isOpen && this.flame.range !== range)
			this.flame.open(range);
		this.panel(this.title(timeText(range.to - range.from), 'range of'),
			this.list([['from', `${(range.from / 1e9).toFixed(9)} s`], ['to', `${(range.to / 1e9).toFixed(9)} s`], ...pairs], 'range'), choose, ...below);
	}

	/* The functions of a range, of one thread or all. */
	showRange(range) {
		const {trace} = this, rows = trace.compares ? comparedRows(trace, range) : trace.statistics(this.threadsOf(range), range.from, range.to);
		const go = row => this.setSearch(trace.functions[row.id]), compares = what => (this.compared = what, this.showRange(range));
		const shown = trace.compares ? comparedTable(trace.functions, rows, this.compared ?? 'total', compares, go) : [this.table(rows)];

		this.rows = rows;
		this.rangePanel(range, chosen => this.showRange(chosen), [['functions', rows.length.toLocaleString('en')]],
			el('div', {className: 'row'}, el('button', {onclick: () => this.showTree(range), title: 'e'}, 'Call tree'), this.foldButton),
			this.eventTable(trace.events(this.threadsOf(range), range.from, range.to)), ...shown);
	}

	/* Events by name; a click leads to the last of a name before the hit. */
	eventTable(rows) {
		const {trace} = this, bytes = rows.some(row => row.bytes), columns = bytes ? ['event', 'times', 'bytes'] : ['event', 'times'];
		const go = row => (this.closeFlame(), this.toInstant(trace.lastEvent(row.name, this.chart.hit?.time ?? Infinity)));

		return rows.length ? el('details', {open: rows.length < 8}, el('summary', {}, countText(rows.length, 'kind') + ' of events'),
			el('table', {className: 'events'}, el('thead', {}, el('tr', {}, ...columns.map(text => el('th', {}, text)))),
				el('tbody', {}, ...rows.map(row => el('tr', {className: 'go', tabIndex: 0, onclick: () => go(row)}, el('td', {title: row.name}, row.name),
					el('td', {}, row.cnt.toLocaleString('en')), bytes ? el('td', {}, row.bytes.toLocaleString('en')) : null))))) : null;
	}

	get foldButton() {
		return el('button', {onclick: () => this.foldRecursion(), title: 'r', ariaPressed: String(this.trace.folds)},
			this.trace.folds ? 'Unfold' : 'Fold recursion, @plt');
	}

	setFolds(folds) {
		if (folds === this.trace.folds)
			return;
		this.trace.fold(folds);
		this.findMatches();
		this.chart.layout();
		this.chart.scrollTo(this.chart.scroll);
		if (this.chart.selected && !this.flame.isOpen)
			this.chart.reveal(this.chart.selected.track, this.chart.selected.slice);
	}

	/* Whatever tells of a range tells of it anew. */
	foldRecursion() {
		const range = this.flame.isOpen ? this.flame.range : this.range, isRange = Boolean(byId('panel').querySelector('.range'));

		this.setFolds(!this.trace.folds);
		if (this.flame.isOpen)
			this.flame.open(range);
		if (this.tree)
			this.showTree(range);
		else if (isRange)
			this.showRange(range);
		else if (this.chart.selected)
			this.showSlice(this.chart.selected);
	}

	/* The same by who called whom; the longest path is open as far as it has half of the time. */
	showTree(range) {
		const tree = new CallTree(this.trace.paths(this.threadsOf(range), range.from, range.to), this.trace.functions, this.trace.compares);

		this.rangePanel(range, chosen => this.showTree(chosen), [['call paths', (tree.paths.cnt - 1).toLocaleString('en')]],
			el('div', {className: 'row'}, el('button', {onclick: () => this.showRange(range)}, 'Functions'), this.foldButton), tree.element);
		this.tree = tree;
	}

	/* ---- time by call path ---- */

	/* Of the range that is measured, or of what is in sight. */
	toggleFlame() {
		const {flame} = this;

		byId('graph').textContent = flame.isOpen ? 'Flame graph' : 'Timeline';
		if (flame.isOpen)
			return flame.toggle(false);
		this.showRange(this.range);
		flame.open(this.chart.range);
	}

	closeFlame() {
		if (this.flame.isOpen)
			this.toggleFlame();
	}

	/* A path's sums, and what its function was called by and called, wherever that was. */
	showPath({tree, path}) {
		const {flame, trace} = this, {paths} = tree, of = paths.of[path], all = flame.paths.total[0] || 1;
		const share = time => `${exactText(time)}, ${(time / all * 100).toFixed(1)} %`;

		if (of < 0)
			return this.showRange(flame.range);
		const around = (title, of) => [el('h3', {}, title), el('ol', {}, ...of.callees[0].slice(0, CALLERS_SHOWN).map(next =>
			el('li', {className: 'go', tabIndex: 0, onclick: () => this.toFunction(of.of[next])}, trace.functions[of.of[next]],
				el('small', {}, share(of.total[next])))))];
		const {range} = flame, threads = this.threadsOf(range);

		this.panel(this.title(trace.functions[of]),
			this.list([...trace.compares ? comparedPath(paths, path) : [['calls', paths.calls[path].toLocaleString('en')], ['total', share(paths.total[path])],
				tree.upwards ? null : ['self', share(paths.self[path])]],
				['of', `${timeText(range.to - range.from)}${range.track ? `, ${range.track.name}` : ''}`]]),
			el('div', {className: 'row'},
				el('button', {onclick: () => flame.zoom(), title: 'Enter, or a double click'}, 'Zoom'),
				el('button', {onclick: () => this.toFunction(of), title: 'c'}, 'Callers and callees'),
				el('button', {onclick: () => this.select(trace.slowest(threads, range.from, range.to, of))}, 'Slowest call')),
			...around('Callers', flame.paths.callersOf(of)), ...around('Calls', flame.paths.calleesOf(of)));
	}

	toFunction(of) {
		this.flame.toFunction(of);
		this.showPath(this.flame.selected);
	}

	/* A key or a click where the flame graph is; false: not for it. */
	flameKey(name) {
		const {flame} = this;

		if (name.startsWith('Arrow'))
			flame.walk(name.slice(5).toLowerCase()), this.showPath(flame.selected);
		else if (name === 'Enter' || name === 'f')
			flame.zoom();
		else if (name === 'c' && flame.selected.path)
			this.toFunction(flame.selected.tree.paths.of[flame.selected.path]);
		else if (name === 'Escape')
			flame.leave() || this.toggleFlame();
		else if (name.startsWith('Page'))
			flame.scrollTo(flame.scroll + (name === 'PageUp' ? -.8 : .8) * flame.canvas.clientHeight);
		else
			return false;
		return true;
	}

	listenFlame() {
		const {flame} = this, {canvas} = flame;

		byId('graph').onclick = () => this.toggleFlame();
		canvas.onclick = event => {
			const at = flame.at(event.offsetX, event.offsetY);

			if (!at)
				return;
			flame.selected = at;
			this.showPath(at);
			flame.invalidate();
		};
		canvas.ondblclick = () => flame.zoom();
		canvas.onwheel = event => {
			event.preventDefault();
			flame.scrollTo(flame.scroll + event.deltaY * (event.deltaMode ? 20 : 1));
		};
		canvas.onpointermove = event => {
			const at = flame.at(event.offsetX, event.offsetY);

			this.tip(event, at ? `${flame.name(at.tree, at.path)}\n${timeText(at.tree.paths.total[at.path])}` : '');
		};
		canvas.onpointerleave = () => byId('tip').hidden = true;
	}

	/* Functions with their times, by the column that was clicked last; `go` is what a click on one does. */
	table(rows, last = 'self', go = row => this.setSearch(this.trace.functions[row.id])) {
		const SHOWN = 1000, {down} = this.sort, by = ['self', 'slowest'].includes(this.sort.by) ? last : this.sort.by;
		const value = row => by === 'name' ? this.trace.functions[row.id] : row[by];
		const sum = rows.reduce((total, row) => total + row.self, 0) || 1;
		const head = ['name', 'calls', 'total', last].map(key => el('th', {className: 'go', tabIndex: 0, onclick: () => {
			this.sort = {by: key, down: key === by ? !down : key !== 'name'};
			table.replaceWith(this.table(rows, last, go));
		}}, `${key === 'name' ? 'function' : key}${key === by ? down ? ' ▾' : ' ▴' : ''}`));

		rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b)) * (down ? -1 : 1));
		const table = el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows.slice(0, SHOWN).map(row => {
			const name = this.trace.functions[row.id], cell = el('td', {title: name}, name);

			cell.style.setProperty('--share', `${row.self / sum * 100}%`);
			return el('tr', {className: 'go', tabIndex: 0, onclick: () => go(row)}, cell, el('td', {}, row.calls.toLocaleString('en')),
				el('td', {title: exactText(row.total)}, shortText(row.total)), el('td', {title: exactText(row[last])}, shortText(row[last])));
		})));
		return table;
	}
}
