/* SPDX-License-Identifier: BSD-2-Clause */
/* Times, counts, names and colours as they are shown, and elements of the page. */


function unitOf(ns) {
	const size = Math.abs(ns);

	return size < 1e3 ? ['ns', 1] : size < 1e6 ? ['µs', 1e3] : size < 1e9 ? ['ms', 1e6] : ['s', 1e9];
}

function timeText(ns) {
	const [unit, scale] = unitOf(ns);

	return `${(ns / scale).toFixed(scale === 1 ? 0 : 3)} ${unit}`;
}

/* Four digits, for columns. */
function shortText(ns) {
	const [unit, scale] = unitOf(ns), value = ns / scale;

	return `${scale === 1 ? value : value.toFixed(value < 10 ? 3 : value < 100 ? 2 : 1)} ${unit}`;
}

/* To the nanosecond. */
function exactText(ns) {
	const [unit, scale] = unitOf(ns);

	return `${(ns / scale).toFixed(Math.log10(scale))} ${unit}`;
}

const countText = (cnt, what) => `${cnt.toLocaleString('en')} ${what}${cnt === 1 ? '' : 's'}`;

/* An element; strings among the children are text. */
function el(tag, properties, ...children) {
	const element = Object.assign(document.createElement(tag), properties);

	element.append(...children.filter(child => child !== null && child !== undefined));
	return element;
}

const byId = id => document.getElementById(id);

/* Balanced <...> become <…>; where they do not balance (operators), the name stays. */
function withoutArguments(name) {
	let depth = 0, kept = '';

	for (const letter of name) {
		if (letter === '>')
			depth--;
		if (!depth)
			kept += letter;
		if (letter === '<' && !depth++)
			kept += '…';
		if (depth < 0)
			return name;
	}
	return depth ? name : kept;
}

/* A name in so many letters: without template arguments, then parameters, then the scopes before its end. */
function fitName(name, room) {
	if (name.length <= room)
		return name;
	const bare = withoutArguments(name);

	if (bare.length <= room)
		return bare;
	const alone = bare.replace(/(?<=\w|>)\(.*$/, '');

	return alone.length <= room ? alone : alone.includes('::') ? '…' + alone.slice(1 - room) : alone.slice(0, room - 1) + '…';
}

/* Colours by name: stable from trace to trace. */
function hash(text) {
	let hash = 0x811c9dc5;

	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return (hash ^ hash >>> 15) >>> 0;
}

function palette(functions, dark) {
	return functions.map(name => {
		const bits = hash(name), lift = (bits >>> 12) % 5 * .012;

		return dark ? `oklch(${.40 + lift} .075 ${bits % 360})` : `oklch(${.85 + lift} .07 ${bits % 360})`;
	});
}

/* Stripes and dots, for time that is no call. */
function pattern(context, back, line, slant) {
	const tile = el('canvas', {width: 8, height: 8}), draw = tile.getContext('2d');

	draw.fillStyle = back;
	draw.fillRect(0, 0, 8, 8);
	draw.strokeStyle = draw.fillStyle = line;
	draw.beginPath();
	for (const at of slant ? [-8, 0, 8] : []) {
		draw.moveTo(at, slant > 0 ? 8 : 0);
		draw.lineTo(at + 8, slant > 0 ? 0 : 8);
	}
	draw.stroke();
	if (!slant)
		draw.fillRect(3, 3, 2, 2);
	return context.createPattern(tile, 'repeat');
}
