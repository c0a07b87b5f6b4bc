import { counted } from '../../common/format.ts'
import { describeState, type StateLabel } from '../../common/labels.ts'
import { documentAddress } from '../addresses.ts'
import { isUnderWay, type Upload, type Uploads } from './upload-queue.ts'

/** How many uploads are listed; further ones are only counted. */
const MAX_LISTED = 50

interface UploadsPanelProps {
  readonly uploads: Uploads
  /** Whether files are listed; otherwise there is only a summary. */
  readonly hasList: boolean
}

export function UploadsPanel({ uploads, hasList }: UploadsPanelProps) {
  const { all } = uploads
  if (all.length === 0) return null
  const ended = all.filter((upload) => !isUnderWay(upload))
  const listed = [...all]
    .sort((a, b) => urgency(a) - urgency(b) || a.number - b.number)
    .slice(0, hasList ? MAX_LISTED : 0)
  return (
    <section class="uploads" aria-label="Uploads">
      <div class="uploads-head">
        <h2>Uploads</h2>
        <p class="quiet" role="status">
          {summaryOf(all)}
        </p>
        {ended.length > 0 && (
          <button type="button" class="plain" onClick={uploads.clear}>
            Clear
          </button>
        )}
      </div>
      <ul>
        {listed.map((upload) => (
          <Row key={upload.number} upload={upload} onRetry={() => uploads.retry(upload.number)} />
        ))}
      </ul>
      {hasList && all.length > listed.length && (
        <p class="quiet">and {counted(all.length - listed.length, 'more file')}</p>
      )}
    </section>
  )
}

/** Files that are being sent come first, then problems, then stored files, then waiting ones. */
function urgency(upload: Upload): number {
  if (isProblem(upload)) return 1
  return ['sending', 'refused', 'stored', 'waiting'].indexOf(upload.state.kind)
}

function isProblem(upload: Upload): boolean {
  return describeUpload(upload).tone === 'problem'
}

function Row({ upload, onRetry }: { readonly upload: Upload; onRetry(): void }) {
  const { file, state, library } = upload
  const { tone, state: label, reasons } = describeUpload(upload)
  return (
    <li>
      <span class="file">
        {state.kind === 'stored' ? <a href={documentAddress(library, state.id)}>{file.name}</a> : file.name}
      </span>
      {state.kind === 'sending' && <progress aria-label={`Sending ${file.name}`} value={state.part} max={1} />}
      <span class={`state ${tone}`}>{label}</span>
      {state.kind === 'refused' && state.canRetry && (
        <button type="button" class="plain" onClick={onRetry}>
          Try again
        </button>
      )}
      {reasons.map((reason) => (
        <span key={reason} class="reason quiet">
          {reason}
        </span>
      ))}
    </li>
  )
}

function describeUpload({ state }: Upload): StateLabel {
  switch (state.kind) {
    case 'waiting':
      return { tone: 'plain', state: 'Waiting', reasons: [] }
    case 'sending':
      return {
        tone: 'plain',
        state: state.part < 1 ? `${Math.floor(100 * state.part)} %` : 'Being stored',
        reasons: [],
      }
    case 'refused':
      return { tone: 'problem', state: 'Not uploaded', reasons: [state.why] }
    case 'stored': {
      const read = state.resource
        ? describeState(state.resource)
        : describeState({ id: state.id, ingestion_status: 'not_started' })
      return state.isCopy ? { ...read, reasons: [describeDuplicate(state.resource), ...read.reasons] } : read
    }
  }
}

function describeDuplicate(resource: { title?: string | undefined; paths?: string[] | undefined } | undefined): string {
  const same = resource?.title === undefined ? 'this file' : `this file as “${resource.title}”`
  const places = (resource?.paths ?? []).slice(0, 3).join(', ')
  return `The library had ${same} already${places === '' ? '' : `; it is now at ${places}`}.`
}

function summaryOf(all: readonly Upload[]): string {
  const problems = all.filter(isProblem).length
  const underWay = all.filter(isUnderWay).length
  const done = all.length - problems - underWay
  return [
    `${done} of ${counted(all.length, 'file')} done`,
    ...(underWay > 0 ? [`${underWay} under way`] : []),
    ...(problems > 0 ? [counted(problems, 'problem')] : []),
  ].join(' · ')
}
