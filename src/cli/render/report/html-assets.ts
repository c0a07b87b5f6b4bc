import { BY_URGENCY, NEED_A_PERSON } from './guidance.ts'

/** The chosen tile hides the rows of other classes, without a script. */
const FILTERS = [
  ...BY_URGENCY.map((reportClass) => hideBut(reportClass, [reportClass])),
  hideBut('needs-you', NEED_A_PERSON),
].join('\n')

function hideBut(value: string, classes: readonly string[]): string {
  const others = classes.map((name) => `:not(.${name})`).join('')
  return `section:has(input[value="${value}"]:checked) tbody tr${others} { display: none }`
}

export const STYLE = `
:root { color-scheme: light dark; --line: #d7d7d2; --soft: #6b6b66; --paper: #fbfbf9; --ink: #1c1c1a; --good: #1a7f4b; --warn: #a15c00; --bad: #b3261e; --calm: #2a5db0 }
@media (prefers-color-scheme: dark) { :root { --line: #3a3a38; --soft: #a3a39d; --paper: #191918; --ink: #ececea; --good: #58c48b; --warn: #e5a54b; --bad: #f2857d; --calm: #8ab4f8 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 84rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { margin: 2.5rem 0 0; font-size: 1.1rem; color: var(--soft); font-weight: 600 }
.made { color: var(--soft); margin: 0 }
.headline { margin: .1rem 0 .3rem; font-size: 1.75rem; line-height: 1.25; font-weight: 650; text-wrap: balance }
.sides { margin: 0 0 1.25rem; color: var(--soft); overflow-wrap: anywhere }
.failure { color: var(--bad); font-weight: 600 }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: .5rem }
legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
label { padding: .4rem .8rem .45rem; border: 1px solid var(--line); border-radius: .6rem; cursor: pointer; color: var(--soft) }
label b { display: block; font-size: 1.35rem; line-height: 1.2; color: var(--ink); font-variant-numeric: tabular-nums }
label input { position: absolute; opacity: 0; pointer-events: none }
label:has(:checked) { border-color: currentColor; box-shadow: inset 0 0 0 1px currentColor; color: var(--ink) }
label:has(:focus-visible) { outline: 2px solid var(--calm); outline-offset: 2px }
.find { display: block; width: min(100%, 24rem); margin: 0 0 1rem; padding: .5rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .6rem }
table { width: 100%; border-collapse: collapse }
th, td { padding: .45rem .75rem .45rem 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; font-weight: 400; overflow-wrap: anywhere }
thead th { border: 0; color: var(--soft); font-size: .85rem }
tbody td { color: var(--soft) }
td span { color: var(--ink); white-space: nowrap }
td span::before { content: "●"; margin-inline-end: .4rem; color: var(--calm) }
.in-sync td span::before { color: var(--good) }
.without-text td span::before, .superseded td span::before, .changed td span::before, .unknown td span::before { color: var(--warn) }
.needs-attention td span::before, .missing-remotely td span::before { color: var(--bad) }
.size { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums }
tr[hidden] { display: none }
@media (max-width: 48rem) { thead { display: none } tr { display: block; border-top: 1px solid var(--line); padding: .5rem 0 } th, td { display: block; border: 0; padding: .1rem 0; text-align: start } td:empty { display: none } .headline { font-size: 1.35rem } }
@media print { fieldset, .find { display: none } main { max-width: none; padding: 0 } }
${FILTERS}
`

export const SCRIPT = `
for (const table of document.querySelectorAll('table')) {
  const find = document.createElement('input')
  find.type = 'search'
  find.className = 'find'
  find.placeholder = 'Find a path or a reason'
  find.setAttribute('aria-label', find.placeholder)
  const rows = [...table.tBodies[0].rows]
  find.addEventListener('input', () => {
    const words = find.value.toLowerCase().split(/\\s+/)
    for (const row of rows) {
      const text = row.textContent.toLowerCase()
      row.hidden = !words.every((word) => text.includes(word))
    }
  })
  table.before(find)
}
`
