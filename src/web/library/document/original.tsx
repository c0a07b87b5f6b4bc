import { useState } from 'preact/hooks'
import type { ResourceRecord } from '../../../contract/records.ts'
import { wordsOf } from '../../common/api/failure.ts'
import { Icon } from '../../common/ui/icon.tsx'
import { Failure, Notice } from '../../common/ui/notice.tsx'
import { useLoaded } from '../../common/use-loaded.ts'
import { isText } from '../../common/words.ts'
import { useSession } from '../session/session.ts'
import { OriginalText } from './original-text.tsx'

/**
 * The file as it was uploaded: to download; pictures and recordings also to look at, what is text to read as text. No original
 * is ever opened as a page of its own.
 */
export function Original({ shown }: { readonly shown: ResourceRecord }) {
  const mimeType = String(shown.mime_type ?? '')
  const [family = ''] = mimeType.split('/')
  return (
    <section class="original" aria-label="Original">
      {['image', 'audio', 'video'].includes(family) && <Medium shown={shown} family={family} />}
      <div class="actions">
        <Download resource={shown.id} />
        {isText(mimeType) && <OriginalText resource={shown.id} sizeBytes={Number(shown.size ?? 0)} />}
      </div>
    </section>
  )
}

function Download({ resource }: { readonly resource: string }) {
  const { api } = useSession()
  const [said, setSaid] = useState('')
  const download = async () => {
    setSaid('')
    try {
      const link = document.createElement('a')
      link.href = await api.viewOriginal(resource, 'attachment', AbortSignal.timeout(20_000))
      link.download = ''
      link.click()
    } catch (error) {
      setSaid(wordsOf(error))
    }
  }
  return (
    <>
      <button type="button" onClick={download}>
        <Icon name="download" /> Download the original
      </button>
      {said !== '' && <Notice tone="problem">{said}</Notice>}
    </>
  )
}

/** A browser runs no code of a picture, also not of SVG. */
function Medium({ shown, family }: { readonly shown: ResourceRecord; readonly family: string }) {
  const { api } = useSession()
  const [isUnknown, setIsUnknown] = useState(false)
  const {
    value: address,
    error,
    retry,
  } = useLoaded(shown.id, (signal) => {
    return api.viewOriginal(shown.id, 'inline', signal)
  })
  const title = shown.title ?? ''
  if (isUnknown)
    return <Notice tone="plain">This browser cannot show a file of the type {String(shown.mime_type)}.</Notice>
  if (error !== undefined) return <Failure error={error} onRetry={retry} />
  if (address === undefined) return null
  const onError = () => setIsUnknown(true)
  if (family === 'image') return <img src={address} alt={title} onError={onError} />
  // biome-ignore lint/a11y/useMediaCaption: subtitles of a recording are in its text
  if (family === 'audio') return <audio controls src={address} aria-label={title} onError={onError} />
  // biome-ignore lint/a11y/useMediaCaption: subtitles of a recording are in its text
  return <video controls src={address} aria-label={title} onError={onError} />
}
