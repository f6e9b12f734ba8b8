/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of calls as rows of a table, with calls, total and self of each path (flame.js). Rows exist only below
 * what was opened: a trace may have a million paths.
 */

const CALLEES_SHOWN = 200, INDENTED = 24;

class CallTree {
	constructor(paths, functions, compares) {
		Object.assign(this, {paths, functions, compares, rows: new Map(), body: el('tbody', {})});
		this.element = el('table', {role: 'treegrid', className: compares ? 'compared' : '', ariaLabel: 'Calls, as a tree'},
			el('thead', {}, el('tr', {}, ...(compares ? ['total', 'A', 'B', 'A − B'] : ['function', 'calls', 'total', 'self'])
				.map(text => el('th', {}, text)))), this.body);
		this.open(0);
		for (let path = 0; (path = paths.callees[path][0]) && paths.total[path] >= paths.total[0] / 2;)
			this.open(path);
	}

	row(path) {
		const {paths} = this, name = this.functions[paths.of[path]], depth = paths.depth[path], isLeaf = !paths.callees[path].length;
		const mark = el('span', {className: 'mark'}, isLeaf ? '' : '▸'), cell = el('td', {title: name}, mark, name);
		const row = el('tr', {className: 'go', tabIndex: -1, ariaLevel: String(depth), ariaExpanded: isLeaf ? null : 'false',
			onclick: () => (row.focus(), this.toggle(path)), onkeydown: event => this.onKey(event, path)}, cell,
			...this.compares ? comparedCells('total', ...paths.sides(path, 'total')) : [el('td', {}, paths.calls[path].toLocaleString('en')),
				...[paths.total, paths.self].map(of => el('td', {title: exactText(of[path])}, shortText(of[path])))]);

		cell.style.setProperty('--share', `${paths.total[path] / (paths.total[0] || 1) * 100}%`);
		cell.style.paddingLeft = `${4 + Math.min(depth - 1, INDENTED) * 10}px`;
		this.rows.set(path, row);
		return row;
	}

	isOpen(path) {
		return this.rows.get(path)?.ariaExpanded === 'true';
	}

	mark(path, isOpen) {
		this.rows.get(path).ariaExpanded = String(isOpen);
		this.rows.get(path).querySelector('span').textContent = isOpen ? '▾' : '▸';
	}

	open(path) {
		const callees = this.paths.callees[path];

		if (!callees.length || this.isOpen(path))
			return;
		const rows = callees.slice(0, CALLEES_SHOWN).map(callee => this.row(callee));

		if (callees.length > CALLEES_SHOWN)
			rows.push(el('tr', {}, el('td', {colSpan: 4}, `and ${countText(callees.length - CALLEES_SHOWN, 'shorter one')}`)));
		if (path) {
			this.rows.get(path).after(...rows);
			this.mark(path, true);
		} else {
			this.body.append(...rows);
			rows[0].tabIndex = 0;
		}
	}

	/* Its rows go, with all that is open below them. */
	close(path) {
		if (!this.isOpen(path))
			return;
		for (const callee of this.paths.callees[path].slice(0, CALLEES_SHOWN)) {
			this.close(callee);
			this.rows.get(callee).remove();
			this.rows.delete(callee);
		}
		if (this.paths.callees[path].length > CALLEES_SHOWN)
			this.rows.get(path).nextSibling.remove();
		this.mark(path, false);
	}

	toggle(path) {
		if (this.isOpen(path))
			this.close(path);
		else
			this.open(path);
	}

	/* As in other trees: right opens or goes in, left closes or goes out. */
	onKey(event, path) {
		const row = this.rows.get(path), {paths} = this;

		if (event.key === 'ArrowDown')
			row.nextElementSibling?.focus();
		else if (event.key === 'ArrowUp')
			row.previousElementSibling?.focus();
		else if (event.key === 'ArrowRight')
			this.isOpen(path) ? row.nextElementSibling.focus() : this.open(path);
		else if (event.key === 'ArrowLeft')
			this.isOpen(path) ? this.close(path) : this.rows.get(paths.parent[path])?.focus();
		else if (event.key === 'Enter' || event.key === ' ')
			this.toggle(path);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}
}
