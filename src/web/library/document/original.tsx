import { useState } from 'preact/hooks'
import { parentLibraryPath } from '../../../contract/library-path.ts'
import type { ResourceRecord } from '../../../contract/records.ts'
import { counted } from '../../common/format.ts'
import { Content } from '../../common/hits.tsx'
import { Icon } from '../../common/icon.tsx'
import { isText } from '../../common/labels.ts'
import { Dialog, Failure, Notice, useAction, useLoaded } from '../../common/view.tsx'
import { directoryAddress } from '../addresses.ts'
import { useSession } from '../session.ts'

/**
 * Offers the file as it was uploaded. Any file can be downloaded. Pictures and recordings show here, and texts as plain text; a PDF
 * opens in another tab. The browser opens no other file, because it could run code.
 */
export function Original({ library, shown }: { readonly library: string; readonly shown: ResourceRecord }) {
  const mimeType = String(shown.mime_type ?? '')
  const { id } = shown
  return (
    <section class="original" aria-label="Original">
      <Medium shown={shown} />
      <div class="actions">
        {mimeType === 'application/pdf' && <OriginalButton label="Open in a tab" resource={id} disposition="inline" />}
        <OriginalButton label="Download the original" resource={id} disposition="attachment" />
        {isText(mimeType) && <OriginalText resource={id} sizeBytes={Number(shown.size ?? 0)} />}
        <Removal library={library} shown={shown} />
      </div>
    </section>
  )
}

interface OriginalButtonProps {
  readonly label: string
  readonly resource: string
  readonly disposition: 'inline' | 'attachment'
}

/** A button that downloads the original, or opens it in a tab that cannot reach this page. */
function OriginalButton({ label, resource, disposition }: OriginalButtonProps) {
  const { api } = useSession()
  const { failure, run } = useAction(async () => {
    const link = document.createElement('a')
    link.href = await api.viewOriginal(resource, disposition, AbortSignal.timeout(20_000))
    if (disposition === 'attachment') link.download = ''
    else Object.assign(link, { target: '_blank', rel: 'noopener noreferrer' })
    link.click()
  })
  return (
    <>
      <button type="button" onClick={run}>
        {disposition === 'attachment' && <Icon name="download" />} {label}
      </button>
      {failure !== '' && <Notice tone="problem">{failure}</Notice>}
    </>
  )
}

/** Shows a picture, or a player for a recording; nothing for other files. */
export function Medium({ shown }: { readonly shown: ResourceRecord }) {
  const [family = ''] = String(shown.mime_type ?? '').split('/')
  return ['image', 'audio', 'video'].includes(family) ? <Player shown={shown} family={family} /> : null
}

/** Browsers run no code in an `img`, not even that of an SVG. */
function Player({ shown, family }: { readonly shown: ResourceRecord; readonly family: string }) {
  const { api } = useSession()
  const [isUnplayable, setIsUnplayable] = useState(false)
  const [seconds, setSeconds] = useState(0)
  const {
    value: address,
    failure,
    retry,
  } = useLoaded(shown.id, (signal) => {
    return api.viewOriginal(shown.id, 'inline', signal)
  })
  const title = shown.title ?? ''
  const video = shown.assets?.find(({ type }) => type === 'video')
  const pictures = video && <VideoPictures asset={video.id} seconds={seconds} onSeconds={setSeconds} />
  if (isUnplayable)
    return (
      <>
        <Notice tone="plain">This browser cannot show a file of the type {String(shown.mime_type)}.</Notice>
        {pictures}
      </>
    )
  if (failure !== '') return <Failure message={failure} onRetry={retry} />
  if (address === undefined) return null
  const onError = () => setIsUnplayable(true)
  if (family === 'image') return <img src={address} alt={title} onError={onError} />
  // biome-ignore lint/a11y/useMediaCaption: subtitles of a recording are in its text
  if (family === 'audio') return <audio controls src={address} aria-label={title} onError={onError} />
  const onTimeUpdate = ({ currentTarget }: { readonly currentTarget: HTMLVideoElement }) =>
    setSeconds(Math.round(currentTarget.currentTime * 10) / 10)
  return (
    <>
      {/* biome-ignore lint/a11y/useMediaCaption: subtitles of a recording are in its text */}
      <video controls src={address} aria-label={title} onError={onError} onTimeUpdate={onTimeUpdate} />
      {pictures}
    </>
  )
}

const PART_BYTES = 64 * 1024

/** Shows the uploaded bytes as text, whatever they are. They are read part by part. */
function OriginalText({ resource, sizeBytes }: { resource: string; sizeBytes: number }) {
  const { api } = useSession()
  const [bytes, setBytes] = useState<Uint8Array | undefined>()
  const { failure, run: readOn } = useAction(async () => {
    const part = await api.readOriginal(resource, bytes?.length ?? 0, PART_BYTES, AbortSignal.timeout(20_000))
    setBytes(joined(bytes, part))
  })
  return (
    <>
      {bytes === undefined && (
        <button type="button" onClick={readOn}>
          Show the original as text
        </button>
      )}
      {failure !== '' && <Failure message={failure} onRetry={readOn} />}
      {bytes !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section class="source" tabIndex={0} aria-label="The original as text">
          <pre>
            <Content text={new TextDecoder().decode(bytes)} />
          </pre>
        </section>
      )}
      {bytes !== undefined && bytes.length < sizeBytes && (
        <button type="button" onClick={readOn}>
          Show more of the {counted(sizeBytes, 'byte')}
        </button>
      )}
    </>
  )
}

function joined(first: Uint8Array | undefined, second: Uint8Array): Uint8Array {
  const all = new Uint8Array((first?.length ?? 0) + second.length)
  all.set(first ?? [])
  all.set(second, first?.length ?? 0)
  return all
}

/** A button that removes the document after a confirmation; nothing if the token has no right to remove it. */
function Removal({ library, shown }: { library: string; shown: ResourceRecord }) {
  const { api, libraries } = useSession()
  const [isAsking, setIsAsking] = useState(false)
  const { failure, run: remove } = useAction(async () => {
    await api.deleteResource(library, shown.id, AbortSignal.timeout(20_000))
    location.hash = directoryAddress(library, parentLibraryPath(shown.paths?.[0] ?? '/'))
  })
  if (!libraries.find(({ id }) => id === library)?.access.includes('resource.delete')) return null
  return (
    <>
      <button type="button" onClick={() => setIsAsking(true)}>
        Remove…
      </button>
      {isAsking && (
        <Dialog title={`Remove ${shown.title ?? 'this document'}?`} hasMain onClose={() => setIsAsking(false)}>
          <p>Nobody can find or read it any more, and this cannot be undone. Its file stays where it is.</p>
          <p class="quiet">
            A mirror that sent it will still count it as sent. <code>shelfd library remove</code> also tells the mirror.
          </p>
          {failure !== '' && <Failure message={failure} onRetry={remove} />}
          <p>
            <button type="button" class="main" onClick={remove}>
              Remove for good
            </button>
          </p>
        </Dialog>
      )}
    </>
  )
}

interface VideoPicturesProps {
  readonly asset: string
  readonly seconds: number
  onSeconds(seconds: number): void
}

interface Picture {
  readonly address: string
  readonly label: string
}

const NO_PICTURE =
  'The library cannot make this picture now. It needs the program ffmpeg, and makes only a few at a time.'

/** Shows the frame of a video at a moment, or five frames of the scene around it. The library makes these pictures. */
function VideoPictures({ asset, seconds, onSeconds }: VideoPicturesProps) {
  const { api } = useSession()
  const [picture, setPicture] = useState<Picture | undefined>()
  const [isBroken, setIsBroken] = useState(false)
  const { failure, run: show } = useAction(async (representation: 'frame' | 'scene') => {
    setIsBroken(false)
    setPicture(undefined)
    const address = await api.viewPicture(asset, { representation, seconds }, AbortSignal.timeout(20_000))
    setPicture({ address, label: `${representation === 'frame' ? 'Frame' : 'Scene'} at ${seconds} s` })
  })
  const said = isBroken ? NO_PICTURE : failure
  return (
    <section class="pictures" aria-label="Pictures of the video">
      <div class="actions">
        <label>
          At second{' '}
          <input
            type="number"
            min={0}
            step={0.1}
            value={seconds}
            onInput={({ currentTarget }) => onSeconds(currentTarget.valueAsNumber || 0)}
          />
        </label>
        <button type="button" onClick={() => show('frame')}>
          Show the frame
        </button>
        <button type="button" onClick={() => show('scene')}>
          Show the scene
        </button>
      </div>
      {said !== '' && <Notice tone="problem">{said}</Notice>}
      {picture && <img src={picture.address} alt={picture.label} onError={() => setIsBroken(true)} />}
    </section>
  )
}
