import type { HostShown } from '../../../contract/dashboard.ts'
import { counted, formatNumber, formatTime } from '../../common/format.ts'
import { SIGNS } from '../labels.ts'

/** What a host does, at a glance. */
export function HostFacts({ host }: { readonly host: HostShown }) {
  const { version, seenAt, isOpen, mirrors, waiting, problems, sentInDay } = host
  const counts = [
    ['✓', mirrors.done],
    ['→', mirrors.busy],
    ['!', mirrors.warned],
    ['✗', mirrors.stopped],
  ] as const
  return (
    <>
      <p>
        {counts.every(([, count]) => count === 0) && <span class="quiet">It has reported no mirror yet</span>}
        {counts.map(
          ([sign, count]) =>
            count > 0 && (
              <span key={sign} class={`state ${SIGNS[sign].tone}`}>
                {counted(count, 'mirror')} <span aria-hidden="true">{sign}</span>
                <span class="spoken">{SIGNS[sign].name}</span>{' '}
              </span>
            ),
        )}
        {waiting > 0 && `· ${counted(waiting, 'file')} to send `}
        {problems > 0 && `· ${counted(problems, 'problem')} `}· {formatNumber(sentInDay)} sent in 24 hours
      </p>
      <p class="quiet">
        shelfd {version} · {seenAt === null ? 'never seen' : `last seen ${formatTime(seenAt)}`}
        {!isOpen && ', not running'}
      </p>
    </>
  )
}
