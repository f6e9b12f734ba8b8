/* SPDX-License-Identifier: BSD-2-Clause */
/* The panel as it lists threads: which are shown, folded, and on top. */

class Threads extends Ranges {
	/* Something begins in what is in sight, or a call is under way there. */
	isBusy(track) {
		const {chart} = this, last = track.firstFrom(chart.to);

		return last > 0 && track.rows[0].some(i => track.end(i) >= chart.from && track.start[i] <= chart.to) &&
			(last > track.firstFrom(chart.from) || track.openAt(chart.from).some(i => track.symbol[i] >= NOT_CALLS.length));
	}

	layThreads() {
		this.chart.layout();
		this.chart.scrollTo(this.chart.scroll);
		this.showThreads();
	}

	threadRow(track) {
		const box = (title, checked, set) => el('input', {type: 'checkbox', title, checked, ariaLabel: `${title}: ${track.name}`,
			onchange: event => (set(event.target.checked), this.layThreads())});
		const go = () => {
			track.hidden = false;
			this.layThreads();
			this.chart.scrollTo(track.top);
		};

		return el('tr', {}, el('td', {className: 'go', tabIndex: 0, title: track.title, onclick: go}, `${track.name} ${track.tid}`),
			el('td', {}, track.cnt.toLocaleString('en')),
			el('td', {}, box('shown', !track.hidden, checked => track.hidden = !checked)),
			el('td', {}, box('on top', track.pinned, checked => track.pinned = checked)));
	}

	showThreads() {
		const {threads} = this.trace, rows = el('tbody', {}), filter = el('input', {type: 'search', placeholder: 'Filter threads',
			ariaLabel: 'Filter threads', value: this.threadFilter ?? ''});
		const isWanted = track => track.title.toLowerCase().includes(filter.value.toLowerCase());
		const fill = () => rows.replaceChildren(...threads.filter(isWanted).map(track => this.threadRow(track)));
		const toAll = (text, title, set) => el('button', {title, onclick: () => (threads.forEach(set), this.layThreads())}, text);

		filter.oninput = () => (this.threadFilter = filter.value, fill());
		filter.onkeydown = event => event.key !== 'Escape' && event.stopPropagation();
		fill();
		this.panel(this.title(countText(threads.length, 'thread')),
			el('div', {className: 'row'}, filter, toAll('Only these', 'hides those that are not listed', track => track.hidden = !isWanted(track))),
			el('div', {className: 'row'},
				toAll('Show all', '', track => track.hidden = false),
				toAll('Busy ones', 'those that do something in what is in sight', track => track.hidden = !this.isBusy(track)),
				toAll('Fold all', '', track => track.collapsed = true),
				toAll('Unfold all', '', track => track.collapsed = false)),
			el('table', {className: 'threads'},
				el('thead', {}, el('tr', {}, ...['thread', 'calls', 'shown', 'on top'].map(text => el('th', {}, text)))), rows));
	}
}
