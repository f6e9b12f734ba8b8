/* SPDX-License-Identifier: BSD-2-Clause */
/* What is drawn over the rows of a chart: gaps and events, arrows, hits, notes, the range, the ruler. */

const ROW = 18, HEAD = 24, RULER = 26, FONT = '11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SPAN_MIN = 10; /* ns */

class Marks {
	/* Gaps cross the whole thread, other instants stand at its head. */
	drawInstants(track) {
		const {context, ink} = this, top = this.titleY(track);
		const first = search(0, track.instants.length, i => track.instants[i][0] >= this.from);
		let before = -Infinity;

		for (let i = first; i < track.instants.length && track.instants[i][0] <= this.to; i++) {
			const [time, text, isEvent] = track.instants[i], x = this.x(time);

			if (x - before < 1)
				continue;
			before = x;
			if (isEvent)
				this.drawEvent(x, top + HEAD, this.sought && eventName(text).toLowerCase().includes(this.sought));
			else
				this.drawGap(x, top + HEAD, this.rowY(track, 0) + track.height - HEAD);
		}
	}

	drawEvent(x, bottom, isMatch) {
		const {context, ink} = this;

		context.fillStyle = isMatch ? ink.match : ink.link;
		context.beginPath();
		context.moveTo(x - 4, bottom - 10);
		context.lineTo(x + 4, bottom - 10);
		context.lineTo(x, bottom - 2);
		context.fill();
	}

	/* A broken line below a cross: neither shape nor brightness is that of a hit. */
	drawGap(x, top, bottom) {
		const {context, ink} = this;

		context.strokeStyle = ink.text;
		context.setLineDash([4, 3]);
		context.beginPath();
		context.moveTo(x, top - 2);
		context.lineTo(x, bottom);
		context.stroke();
		context.setLineDash([]);
		context.lineWidth = 2;
		context.beginPath();
		for (const side of [-1, 1]) {
			context.moveTo(x - 4 * side, top - 12);
			context.lineTo(x + 4 * side, top - 4);
		}
		context.stroke();
		context.lineWidth = 1;
	}

	/* Where a thread's arrow begins or ends at that time: at its innermost slice. */
	flowY(track, time) {
		const open = track.openAt(time);

		return this.rowY(track, track.collapsed || !open.length ? 0 : track.level[open[0]]) + ROW / 2;
	}

	/*
	 * Arrows from who woke a thread to when that ran, as far as they are in sight; of those that begin
	 * and end on the same pixels, one.
	 */
	drawFlows() {
		const {context, ink, trace} = this, seen = new Set();
		const first = search(0, trace.flows.length, i => trace.flows[i][1] >= this.from - this.span);

		context.strokeStyle = context.fillStyle = ink.link;
		for (let i = first; i < trace.flows.length && trace.flows[i][1] <= this.to; i++) {
			const [from, fromTime, to, toTime] = trace.flows[i], left = this.x(fromTime), right = this.x(toTime);
			const key = `${from} ${Math.round(left)} ${to} ${Math.round(right)}`;

			if (right < 0 || seen.has(key))
				continue;
			seen.add(key);
			this.drawArrow(left, this.flowY(trace.threads[from], fromTime), right, this.flowY(trace.threads[to], toTime));
		}
		this.drawShownEvent();
	}

	drawArrow(left, top, right, bottom) {
		const {context} = this, bend = Math.max(Math.min((right - left) / 2, 40), 8);

		context.beginPath();
		context.moveTo(left, top);
		context.bezierCurveTo(left + bend, top, right - bend, bottom, right, bottom);
		context.stroke();
		context.beginPath();
		for (const [dx, dy] of [[0, 0], [-6, -3], [-6, 3]])
			context.lineTo(right + dx, bottom + dy);
		context.fill();
	}

	/* A ring around the event that the panel tells of; of an allocation, an arrow to its end. */
	drawShownEvent() {
		const {context, event} = this;
		const place = ({track, instant}) => [this.x(track.instants[instant][0]), this.titleY(track) + HEAD - 6, track.instants[instant][0]];

		if (!event || event.track.hidden)
			return;
		const [x, y, time] = place(event), {other} = event;

		context.lineWidth = 2;
		context.beginPath();
		context.arc(x, y, 8, 0, 2 * Math.PI);
		context.stroke();
		context.lineWidth = 1;
		if (!other || other.track.hidden)
			return;
		const [otherX, otherY, otherTime] = place(other);

		if (otherTime < time)
			this.drawArrow(otherX, otherY, x, y);
		else
			this.drawArrow(x, y, otherX, otherY);
	}

	drawHits() {
		const {context, ink, trace} = this;
		let before = -Infinity;

		for (const hit of trace.hits) {
			const x = this.x(hit.time);

			if (x < -1 || x > this.width || x - before < 1)
				continue;
			before = x;
			context.fillStyle = ink.accent;
			context.fillRect(x - .75, RULER, hit === this.hit ? 1.5 : 1, this.height);
			if (hit.slice < 0 || hit.track.collapsed)
				continue;
			const y = this.rowY(hit.track, hit.track.level[hit.slice]) + ROW / 2 - .5;

			if (y < this.head)
				continue;
			context.beginPath();
			for (const [dx, dy] of [[0, -6], [6, 0], [0, 6], [-6, 0]])
				context.lineTo(x + dx, y + dy);
			context.closePath();
			context.fill();
			context.strokeStyle = ink.back;
			context.stroke();
		}
	}

	drawRange() {
		const {context, ink, range} = this;

		if (!range)
			return;
		const left = this.x(range.from), right = this.x(range.to);

		context.fillStyle = ink.veil;
		context.fillRect(left, 0, right - left, this.height);
		context.fillStyle = ink.link;
		context.fillRect(left, RULER, 1, this.height);
		context.fillRect(right, RULER, 1, this.height);
	}

	/* Times are told from the hit on, where there is one. */
	drawRuler() {
		const {context, ink} = this, origin = this.hit ? this.hit.time : 0;
		const rough = this.span / this.width * 120, power = 10 ** Math.floor(Math.log10(rough));
		const step = Math.max(power * [1, 2, 5, 10].find(times => power * times >= rough), 1);
		const [unit, scale] = unitOf(Math.max(Math.abs(this.from - origin), Math.abs(this.to - origin)));
		const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));

		context.fillStyle = ink.raised;
		context.fillRect(0, 0, this.width, RULER);
		context.fillStyle = ink.line;
		context.fillRect(0, RULER - 1, this.width, 1);
		for (let n = Math.ceil((this.from - origin) / step); origin + n * step <= this.to; n++) {
			const x = this.x(origin + n * step);
			const text = `${n > 0 && this.hit ? '+' : n < 0 ? '−' : ''}${(Math.abs(n * step) / scale).toFixed(digits)} ${unit}`;

			context.fillStyle = ink.line;
			context.fillRect(x, RULER - 9, 1, 8);
			context.fillStyle = ink.dim;
			context.fillText(n || !this.hit ? text : '', x + 4, RULER / 2);
		}
		this.drawFlags();
		if (this.range)
			this.drawSpan();
	}

	/* Over the others, the one that is shown. */
	drawFlags() {
		const {context, ink, trace, hit} = this;

		context.fillStyle = ink.accent;
		for (const {time} of trace.hits)
			if (time >= this.from && time <= this.to)
				context.fillRect(this.x(time) - .75, 4, 6, RULER - 9);
		if (!hit || hit.time < this.from || hit.time > this.to)
			return;
		const x = this.x(hit.time), text = ` ${hit.trigger} `, width = text.length * this.charWidth;
		const left = x + width > this.width ? x - width + .75 : x - .75;

		context.fillRect(left, 4, width, RULER - 9);
		context.fillRect(x - .75, 4, 1.5, RULER - 4);
		context.fillStyle = ink.back;
		context.fillText(text, left, RULER / 2);
	}

	/* At the bottom, so that hits keep their flags; as far as there is room before the next. */
	drawNotes() {
		const {context, ink, notes} = this;

		notes.forEach(({time, text}, i) => {
			const x = Math.round(this.x(time)), next = i + 1 < notes.length ? this.x(notes[i + 1].time) : this.width;
			const top = this.height - 22, room = Math.floor((next - x) / this.charWidth) - 2, label = fitName(text, Math.max(room, 1));

			if (x < 0 || x > this.width)
				return;
			context.fillStyle = ink.link;
			context.fillRect(x, RULER, 1, this.height);
			context.fillStyle = ink.back;
			context.fillRect(x, top, (label.length + 2) * this.charWidth, ROW);
			context.strokeStyle = ink.link;
			context.strokeRect(x + .5, top + .5, (label.length + 2) * this.charWidth, ROW - 1);
			context.fillStyle = ink.text;
			context.fillText(label, x + this.charWidth, top + ROW / 2);
		});
	}

	drawSpan() {
		const {context, ink, range} = this, text = ` ${timeText(range.to - range.from)} `;
		const width = text.length * this.charWidth;
		const left = (Math.max(this.x(range.from), 0) + Math.min(this.x(range.to), this.width) - width) / 2;

		context.fillStyle = ink.link;
		context.fillRect(left, 4, width, RULER - 9);
		context.fillStyle = ink.back;
		context.fillText(text, left, RULER / 2);
	}
}
