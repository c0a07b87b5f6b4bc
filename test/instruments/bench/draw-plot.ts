export interface Point {
  readonly x: number
  readonly y: number
}

export interface Series {
  readonly name: string
  readonly points: readonly Point[]
}

export interface Panel {
  readonly title: string
  /** At most as many as there are MARKS. */
  readonly series: readonly Series[]
}

export interface Plot {
  readonly title: string
  /** For those who cannot see it. */
  readonly description: string
  readonly panels: readonly Panel[]
}

const PANEL = { width: 480, height: 380, left: 64, right: 128, top: 44, bottom: 56 }
const LABEL_HEIGHT = 15

/** Each series has a shape beside its colour, so that nobody needs to tell the colours apart. */
const MARKS: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `<circle cx="${x}" cy="${y}" r="4.5"/>`,
  (x, y) => `<rect x="${x - 4}" y="${y - 4}" width="8" height="8"/>`,
  (x, y) => `<path d="M${x} ${y - 5} l5 9 h-10 z"/>`,
  (x, y) => `<path d="M${x} ${y - 5.5} l5.5 5.5 l-5.5 5.5 l-5.5 -5.5 z"/>`,
]

/** It has its own background, and other colours where the reader prefers a dark page. */
const STYLE = `
  svg { --ground: #ffffff; --text: #1f2328; --faint: #59636e; --grid: #d8dee4; --s0: #0550ae; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --text: #f0f6fc; --faint: #9198a1; --grid: #30363d; --s0: #58a6ff; --s1: #f0883e; --s2: #3fb950; --s3: #bc8cff; }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--text); }
  .heading { font-weight: 600; font-size: 15px; }
  .tick { fill: var(--faint); font-size: 12px; }
  .grid { stroke: var(--grid); }
  .series { fill: none; stroke-width: 2; }
  .ours { font-weight: 600; }
  ${MARKS.map((_, at) => `.s${at} .series { stroke: var(--s${at}); } .s${at} .mark { fill: var(--s${at}); }`).join('\n  ')}`

/** Draws panels side by side with the same logarithmic axes, files across and seconds upwards, as an SVG document. */
export function drawPlot({ title, description, panels }: Plot): string {
  const points = panels.flatMap(({ series }) => series.flatMap((each) => each.points))
  const axes = { across: powersAround(points.map(({ x }) => x)), upwards: powersAround(points.map(({ y }) => y)) }
  const width = PANEL.width * panels.length
  const drawn = panels.map(
    (panel, at) => `<g transform="translate(${at * PANEL.width} 0)">\n${drawPanel(panel, axes)}\n</g>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${PANEL.height}" width="${width}" height="${PANEL.height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<rect width="${width}" height="${PANEL.height}" rx="6" style="fill: var(--ground)"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

/** Exponents of ten, from the one at or below the smallest value to the one at or above the largest. */
interface Powers {
  readonly low: number
  readonly high: number
}

interface Axes {
  readonly across: Powers
  readonly upwards: Powers
}

function powersAround(values: readonly number[]): Powers {
  const low = Math.floor(Math.log10(Math.min(...values)))
  return { low, high: Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)))) }
}

function drawPanel({ title, series }: Panel, axes: Axes): string {
  const place = ({ x, y }: Point): Point => ({
    x: rounded(PANEL.left + shareOf(x, axes.across) * (PANEL.width - PANEL.left - PANEL.right)),
    y: rounded(PANEL.height - PANEL.bottom - shareOf(y, axes.upwards) * (PANEL.height - PANEL.top - PANEL.bottom)),
  })
  const placed = series.map(({ name, points }) => ({ name, points: points.map(place) }))
  return [
    `<text class="heading" x="${PANEL.left}" y="26">${escapeXml(title)}, seconds</text>`,
    ...drawGrid(axes, place),
    `<text class="tick" x="${(PANEL.left + PANEL.width - PANEL.right) / 2}" y="${PANEL.height - 14}" text-anchor="middle">files</text>`,
    ...placed.map(drawSeries),
    ...drawNames(placed),
  ].join('\n')
}

function shareOf(value: number, { low, high }: Powers): number {
  return (Math.log10(value) - low) / (high - low)
}

function drawGrid({ across, upwards }: Axes, place: (point: Point) => Point): string[] {
  const [left, right, bottom, top] = [10 ** across.low, 10 ** across.high, 10 ** upwards.low, 10 ** upwards.high]
  const lines: string[] = []
  for (const y of powersOf(upwards)) {
    const [from, to] = [place({ x: left, y }), place({ x: right, y })]
    lines.push(`<path class="grid" d="M${from.x} ${from.y} H${to.x}"/>`)
    lines.push(`<text class="tick" x="${from.x - 8}" y="${from.y + 4}" text-anchor="end">${nameOf(y)}</text>`)
  }
  for (const x of powersOf(across)) {
    const [from, to] = [place({ x, y: bottom }), place({ x, y: top })]
    lines.push(`<path class="grid" d="M${from.x} ${from.y} V${to.y}"/>`)
    lines.push(`<text class="tick" x="${from.x}" y="${from.y + 18}" text-anchor="middle">${nameOf(x)}</text>`)
  }
  return lines
}

function powersOf({ low, high }: Powers): number[] {
  return Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at))
}

function nameOf(power: number): string {
  return power.toLocaleString('en', { maximumFractionDigits: 6 })
}

function drawSeries({ points }: Series, at: number): string {
  const line = points.map(({ x, y }) => `${x} ${y}`).join(' L')
  const marks = points.map(({ x, y }) => MARKS[at]?.(x, y)).join('')
  return `<g class="s${at}"><path class="series" d="M${line}"/><g class="mark">${marks}</g></g>`
}

/** Each name stands right of its last point, moved down where another name stands. */
function drawNames(series: readonly Series[]): string[] {
  const ends = series.map(({ name, points }, at) => ({ name, at, end: points.at(-1) ?? { x: 0, y: 0 } }))
  let above = Number.NEGATIVE_INFINITY
  return ends
    .toSorted((a, b) => a.end.y - b.end.y)
    .map(({ name, at, end }) => {
      above = Math.max(end.y + 4, above + LABEL_HEIGHT)
      const mark = MARKS[at]?.(end.x + 16, above - 4)
      const words = `<text class="${at === 0 ? 'ours' : 'theirs'}" x="${end.x + 26}" y="${above}">${escapeXml(name)}</text>`
      return `<g class="s${at}"><g class="mark">${mark}</g>${words}</g>`
    })
}

function rounded(length: number): number {
  return Math.round(length * 10) / 10
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
