import type { ComponentChild } from 'preact'
import type { HostShown } from '../../../contract/dashboard.ts'
import { counted, formatNumber, formatTime } from '../../common/format.ts'
import { SIGNS } from '../labels.ts'

export function HostFacts({ host }: { readonly host: HostShown }) {
  const { version, seenAt, session, mirrors, waiting, problems, sentInDay } = host
  const counts = [
    ['✓', mirrors.done],
    ['→', mirrors.busy],
    ['!', mirrors.warned],
    ['✗', mirrors.stopped],
  ] as const
  const present = counts.filter(([, count]) => count > 0)
  const facts: readonly ComponentChild[] = [
    ...(present.length === 0 ? ['it has reported no mirror yet'] : []),
    ...present.map(([sign, count]) => (
      <span key={sign} class={`state ${SIGNS[sign].tone}`}>
        <span aria-hidden="true">{sign}</span> {counted(count, 'mirror')}
        <span class="spoken">: {SIGNS[sign].name}</span>
      </span>
    )),
    ...(waiting > 0 ? [`${counted(waiting, 'file')} to send`] : []),
    ...(problems > 0 ? [counted(problems, 'problem')] : []),
    `${formatNumber(sentInDay)} sent in 24 hours`,
  ]
  return (
    <>
      {session === 'silent' && (
        <p class="state warning">
          <span aria-hidden="true">!</span> silent: shelfd did not end there, and gives no sign of life. What it
          reported last may be out of date.
        </p>
      )}
      <p class="state">{facts.flatMap((fact, index) => (index === 0 ? [fact] : [' · ', fact]))}</p>
      <p class="quiet">
        shelfd {version} · {seenAt === null ? 'never seen' : `last beat ${formatTime(seenAt)}`}
        {session === 'closed' && ', not running'}
      </p>
    </>
  )
}
