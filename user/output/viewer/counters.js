/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values over time, drawn between the ruler and the threads, where they stay in sight. If they are many, their
 * graphs are lower, and beyond that they scroll by themselves.
 */

const GRAPH = 48, GRAPH_LEAST = 14, COUNTERS_SHARE = .4; /* of the chart's height */

class Counters extends Marks {
	/* Where the threads begin, and how much room they have. */
	get head() {
		return RULER + this.counterRoom;
	}

	get room() {
		return this.height - this.head;
	}

	layCounters() {
		const {counters} = this.trace, most = Math.max(this.height - RULER, 0) * COUNTERS_SHARE;
		const graph = Math.max(Math.min(Math.floor(most / (counters.length || 1)) - HEAD - 8, GRAPH), GRAPH_LEAST);

		this.counterHeight = HEAD + graph + 8;
		this.counterRoom = Math.round(Math.min(counters.length * this.counterHeight, Math.max(most, this.counterHeight)));
		this.scrollCounters(0);
	}

	scrollCounters(by) {
		const most = this.trace.counters.length * this.counterHeight - this.counterRoom;

		this.counterScroll = Math.max(0, Math.min((this.counterScroll ?? 0) + by, most));
		this.invalidate();
	}

	drawCounters() {
		const {context, ink, counterRoom: room} = this;

		if (!room)
			return;
		context.save();
		context.beginPath();
		context.rect(0, RULER, this.width, room);
		context.clip();
		context.fillStyle = ink.back;
		context.fillRect(0, RULER, this.width, room);
		this.trace.counters.forEach((counter, nth) => this.drawCounter(counter, RULER + nth * this.counterHeight - this.counterScroll));
		context.restore();
		context.fillStyle = ink.line;
		context.fillRect(0, this.head - 1, this.width, 1);
	}

	/* A value holds until the next; of points that fall on one pixel the highest is seen. */
	drawCounter(counter, top) {
		const {context, ink} = this, {points, max} = counter, bottom = top + this.counterHeight - 8;
		const first = Math.max(search(0, points.length, i => points[i][0] > this.from) - 1, 0);

		context.fillStyle = ink.link;
		for (let i = first; i < points.length && points[i][0] <= this.to;) {
			const x = Math.max(Math.floor(this.x(points[i][0])), 0);
			let value = points[i++][1];

			while (i < points.length && this.x(points[i][0]) < x + 1)
				value = Math.max(value, points[i++][1]);
			const right = i < points.length ? Math.min(Math.floor(this.x(points[i][0])), this.width) : this.width;
			const tall = value / (max || 1) * (this.counterHeight - HEAD - 12);

			context.globalAlpha = .35;
			context.fillRect(x, bottom - tall, Math.max(right - x, 1), tall);
			context.globalAlpha = 1;
			context.fillRect(x, bottom - tall - 1, Math.max(right - x, 1), 1);
		}
		this.drawTitle(top, counter.name, `pid ${counter.pid}  up to ${max.toLocaleString('en')}`);
	}

	/* The counter there and its last point so far, or null. */
	counterAt(x, y) {
		const time = this.timeAt(x), nth = Math.floor((y - RULER + this.counterScroll) / this.counterHeight);
		const counter = y < RULER || y >= this.head ? undefined : this.trace.counters[nth];
		const point = counter ? search(0, counter.points.length, i => counter.points[i][0] > time) - 1 : -1;

		return point >= 0 ? {counter, point} : null;
	}
}
