import { useState } from 'preact/hooks'
import { counted } from '../../common/format.ts'
import { Failure } from '../../common/ui/notice.tsx'
import { useSession } from '../session/session.ts'

const PART_BYTES = 64 * 1024

interface OriginalTextProps {
  readonly resource: string
  readonly sizeBytes: number
}

/** The bytes of a text as they were uploaded, read in ranges and always shown as text. */
export function OriginalText({ resource, sizeBytes }: OriginalTextProps) {
  const { api } = useSession()
  const [bytes, setBytes] = useState<Uint8Array | undefined>()
  const [error, setError] = useState<unknown>()
  const readOn = async () => {
    setError(undefined)
    try {
      const start = bytes?.length ?? 0
      const part = await api.readOriginal(resource, start, PART_BYTES, AbortSignal.timeout(20_000))
      setBytes(joined(bytes, part))
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <>
      {bytes === undefined && (
        <button type="button" onClick={readOn}>
          Show the original as text
        </button>
      )}
      {error !== undefined && <Failure error={error} onRetry={readOn} />}
      {bytes !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section class="source" tabIndex={0} aria-label="The original as text">
          <pre>{new TextDecoder().decode(bytes)}</pre>
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
