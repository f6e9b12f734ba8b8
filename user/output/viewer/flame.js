/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time by call path: Paths is the tree, Flame draws it in place of the timeline; as a whole, or one function
 * between those that called it (above) and those that it called (below).
 */

/*
 * Path 0 stands for all threads, each other one for a function called by a path. `total` has the time of the
 * calls, `self` that without what they called. `others` has so much of these as is B's, where two traces are
 * compared.
 */
class Paths {
	constructor(root = -1) {
		Object.assign(this, {of: [root], parent: [-1], depth: [0], calls: [0], total: [0], self: [0], numbers: new Map(),
			others: {calls: [0], total: [0], self: [0]}});
	}

	get cnt() {
		return this.of.length;
	}

	/* The path that goes on from another one with this function. */
	child(parent, of) {
		const key = parent * 0x1000000 + of;
		let path = this.numbers.get(key);

		if (path === undefined) {
			path = this.cnt;
			this.numbers.set(key, path);
			this.of.push(of);
			this.parent.push(parent);
			this.depth.push(this.depth[parent] + 1);
			for (const sums of [this, this.others])
				sums.calls.push(0), sums.total.push(0), sums.self.push(0);
		}
		return path;
	}

	add(path, calls, total, self, side) {
		for (const sums of side ? [this, this.others] : [this]) {
			sums.calls[path] += calls;
			sums.total[path] += total;
			sums.self[path] += self;
		}
	}

	/* Adds the sums of another path of another tree; those of `self` only if they are wanted. */
	take(path, {calls, total, self, others}, from, withSelf) {
		this.add(path, calls[from] - others.calls[from], total[from] - others.total[from], withSelf ? self[from] - others.self[from] : 0, 0);
		this.add(path, others.calls[from], others.total[from], withSelf ? others.self[from] : 0, 1);
	}

	/* What is A's and what is B's of 'calls', 'total' or 'self'. */
	sides(path, what) {
		return [this[what][path] - this.others[what][path], this.others[what][path]];
	}

	/* Those that go on from each, the longest first; to be asked when all are there. */
	get callees() {
		if (!this.lists) {
			this.lists = Array.from(this.of, () => []);
			for (let path = 1; path < this.cnt; path++)
				this.lists[this.parent[path]].push(path);
			for (const list of this.lists)
				list.sort((a, b) => this.total[b] - this.total[a] || this.of[a] - this.of[b]);
		}
		return this.lists;
	}

	/* The function's paths that do not lead through it before: together they have its whole time once. */
	outermost(of) {
		const inside = new Uint8Array(this.cnt), found = [];

		for (let path = 1; path < this.cnt; path++) {
			inside[path] = inside[this.parent[path]] || this.of[path] === of;
			if (this.of[path] === of && !inside[this.parent[path]])
				found.push(path);
		}
		return found;
	}

	/* What the function called, as paths that begin with it. */
	calleesOf(of) {
		const merged = new Paths(of), place = new Map(this.outermost(of).map(path => [path, 0]));

		for (let path = 1; path < this.cnt; path++) {
			const to = place.get(path) ?? place.get(this.parent[path]);

			if (to === undefined)
				continue;
			if (!place.has(path))
				place.set(path, merged.child(to, this.of[path]));
			merged.take(place.get(path), this, path, true);
		}
		return merged;
	}

	/* Who called it, and so on: paths that go outwards from it. */
	callersOf(of) {
		const merged = new Paths(of);

		for (const path of this.outermost(of)) {
			merged.take(0, this, path, false);
			for (let at = this.parent[path], to = 0; at > 0; at = this.parent[at]) {
				to = merged.child(to, this.of[at]);
				merged.take(to, this, path, false);
			}
		}
		return merged;
	}
}

class Flame {
	constructor(chart) {
		this.chart = chart;
		this.canvas = byId('flame');
		this.isOpen = false;
		new ResizeObserver(() => this.resize()).observe(this.canvas);
	}

	/* Shows a range {from, to, track}; track undefined: all threads. */
	open(range) {
		const {trace} = this.chart;

		this.range = range;
		this.paths = trace.paths(range.track ? [range.track] : trace.threads, range.from, range.to);
		this.toWhole();
		this.toggle(true);
	}

	toggle(isOpen) {
		this.isOpen = isOpen;
		this.canvas.hidden = !isOpen;
		byId('tip').hidden = true;
		this.chart.canvas.hidden = isOpen;
		this.resize();
		this.chart.resize();
		(isOpen ? this.canvas : this.chart.canvas).focus();
	}

	/* Trees are drawn downwards from their row, or upwards; the box that is zoomed into is as wide as all. */
	toWhole() {
		this.middle = -1;
		this.trees = [{paths: this.paths, zoomed: 0, upwards: false}];
		this.reset();
	}

	toFunction(of) {
		this.middle = of;
		this.trees = [{paths: this.paths.callersOf(of), zoomed: 0, upwards: true},
			{paths: this.paths.calleesOf(of), zoomed: 0, upwards: false}];
		this.reset();
	}

	reset() {
		const up = this.trees.find(tree => tree.upwards);

		/* The function's own row is drawn once, by the tree of what it calls. */
		this.rowOfRoot = up ? up.paths.depth.reduce((most, depth) => Math.max(most, depth), 0) : 0;
		this.selected = {tree: this.trees.at(-1), path: 0};
		this.scroll = 0;
		this.invalidate();
	}

	name(tree, path) {
		const of = tree.paths.of[path];

		return of < 0 ? 'all' : this.chart.trace.functions[of];
	}

	/* Goes out by one step; false where there is none left. */
	leave() {
		const tree = this.trees.find(({zoomed}) => zoomed);

		if (tree)
			tree.zoomed = 0;
		else if (this.middle >= 0)
			this.toWhole();
		else
			return false;
		this.invalidate();
		return true;
	}

	zoom() {
		this.selected.tree.zoomed = this.selected.path;
		this.invalidate();
	}

	/* To what is drawn there: 'up' and 'down' on the screen, 'left' and 'right' among siblings. */
	walk(where) {
		const {tree, path} = this.selected, {paths} = tree, isRoot = !path && this.trees.length > 1;
		const siblings = path ? paths.callees[paths.parent[path]] : [];
		const up = tree.upwards ? paths.callees[path][0] : isRoot ? this.trees[0].paths.callees[0][0] : paths.parent[path];
		const down = tree.upwards ? paths.parent[path] : paths.callees[path][0];
		const next = where === 'up' ? up : where === 'down' ? down : siblings[siblings.indexOf(path) + (where === 'left' ? -1 : 1)];

		/* Both trees have the root, which is drawn by the one that goes down. */
		if (next >= 0)
			this.selected = {tree: isRoot && where === 'up' ? this.trees[0] : next ? tree : this.trees.at(-1), path: next};
		this.reveal();
	}

	/* ---- drawing ---- */

	resize() {
		if (!this.isOpen)
			return;
		this.canvas.width = Math.round(this.canvas.clientWidth * devicePixelRatio);
		this.canvas.height = Math.round(this.canvas.clientHeight * devicePixelRatio);
		this.draw();
	}

	invalidate() {
		if (this.isOpen)
			this.frame ??= requestAnimationFrame(() => {
				this.frame = null;
				this.draw();
			});
	}

	rowY(tree, path) {
		const depth = tree.paths.depth[path];

		return (this.rowOfRoot + (tree.upwards ? -depth : depth)) * ROW + 4 - this.scroll;
	}

	reveal() {
		const y = this.rowY(this.selected.tree, this.selected.path);

		if (y < 0 || y + ROW > this.canvas.clientHeight)
			this.scrollTo(this.scroll + y - this.canvas.clientHeight / 2);
		this.invalidate();
	}

	scrollTo(y) {
		const most = Math.max(...this.boxes.map(({tree, path}) => this.rowY(tree, path) + this.scroll + ROW));

		this.scroll = Math.max(0, Math.min(y, most + 20 - this.canvas.clientHeight));
		this.invalidate();
	}

	/*
	 * Boxes {tree, path, x, width} of a tree, as far as they are half a pixel wide: the callers of the one
	 * that is zoomed into over all the width, then it and what goes on from it.
	 */
	boxesOf(tree) {
		const {paths, zoomed} = tree, width = this.canvas.clientWidth, boxes = [];
		const scale = paths.total[zoomed] ? width / paths.total[zoomed] : 0, waiting = [[zoomed, 0]];

		for (let path = paths.parent[zoomed]; path >= 0; path = paths.parent[path])
			boxes.push({tree, path, x: 0, width});
		while (waiting.length) {
			const [path, left] = waiting.pop();
			let x = left;

			boxes.push({tree, path, x, width: path === zoomed ? width : paths.total[path] * scale});
			for (const callee of paths.callees[path]) {
				if (paths.total[callee] * scale < .5)
					break;
				waiting.push([callee, x]);
				x += paths.total[callee] * scale;
			}
		}
		return boxes;
	}

	draw() {
		const context = this.chart.wipe(this.canvas), {ink, colours, matched, trace} = this.chart;

		this.boxes = this.trees.flatMap(tree => this.boxesOf(tree).filter(({path}) => path || !tree.upwards));
		for (const box of this.boxes) {
			const {tree, path, x, width} = box, of = tree.paths.of[path], y = this.rowY(tree, path);
			const room = Math.floor((width - 7) / this.chart.charWidth), name = this.name(tree, path);
			const isMatch = matched && of >= 0 && matched[of];

			context.globalAlpha = path < tree.zoomed || matched && !isMatch ? .45 : 1;
			context.fillStyle = isMatch ? ink.match : of < 0 ? ink.raised : trace.compares ? this.chart.contrast(...tree.paths.sides(path, 'total')) :
				trace.pauses.has(of) ? ink.merged : colours[of];
			context.fillRect(x, y, width > 3 ? width - 1 : width, ROW - 1);
			context.globalAlpha = 1;
			context.fillStyle = isMatch ? '#1c1208' : ink.text;
			if (room > 1)
				context.fillText(fitName(name, room), x + 4, y + ROW / 2);
		}
		const at = this.boxes.find(({tree, path}) => tree === this.selected.tree && path === this.selected.path);

		context.strokeStyle = ink.text;
		context.lineWidth = 2;
		if (at)
			context.strokeRect(at.x + 1, this.rowY(at.tree, at.path), Math.max(at.width - 2, 2), ROW - 1);
		context.lineWidth = 1;
	}

	at(x, y) {
		return this.boxes?.find(box => y >= this.rowY(box.tree, box.path) && y < this.rowY(box.tree, box.path) + ROW &&
			x >= box.x && x < box.x + Math.max(box.width, 1)) ?? null;
	}
}
