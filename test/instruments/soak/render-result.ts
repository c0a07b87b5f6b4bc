import { type Judgement, judgeDescriptors, judgeMemory, LAW } from './judge-flat.ts'
import { renderPlot, renderSamples, showMegabytes } from './render-samples.ts'
import type { Sample } from './sample.ts'

/** Whether neither memory nor descriptors grow. */
export function isFlat(samples: readonly Sample[]): boolean {
  return [judgeMemory(samples), judgeDescriptors(samples)].every(({ flatness }) => flatness === 'flat')
}

/** Table, plots and verdicts of a run, whole or interrupted. */
export function renderResult(samples: readonly Sample[]): string {
  if (samples.length === 0) return 'nothing was measured'
  const memory = samples.map(({ residentBytes }) => residentBytes)
  const descriptors = samples.map((sample) => sample.descriptors)
  return [
    renderSamples(samples),
    '',
    `memory       ${renderPlot(memory)} ${renderRange(memory, showMegabytes)}`,
    `descriptors  ${renderPlot(descriptors)} ${renderRange(descriptors, String)}`,
    '',
    renderJudgement('memory', judgeMemory(samples), showMegabytes),
    renderJudgement('descriptors', judgeDescriptors(samples), String),
    LAW,
  ].join('\n')
}

function renderRange(values: readonly number[], show: (value: number) => string): string {
  return `${show(Math.min(...values))} to ${show(Math.max(...values))}`
}

function renderJudgement(what: string, { thirds, flatness }: Judgement, show: (value: number) => string): string {
  return `${what}: ${flatness} (thirds: ${thirds.map(show).join(', ')})`
}
