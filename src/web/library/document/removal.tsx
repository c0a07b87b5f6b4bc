import { useState } from 'preact/hooks'
import { parentLibraryPath } from '../../../contract/library-path.ts'
import type { ResourceRecord } from '../../../contract/records.ts'
import { Dialog } from '../../common/dialog.tsx'
import { Failure, useAction } from '../../common/loaded.tsx'
import { directoryAddress } from '../addresses.ts'
import { useSession } from '../session.ts'

interface RemovalProps {
  readonly library: string
  readonly shown: ResourceRecord
}

/** A button that removes the document once that is confirmed; nothing without the right to. */
export function Removal({ library, shown }: RemovalProps) {
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
          <p>Nobody finds or reads it any more, and there is no way back. Its file stays where it is.</p>
          <p class="quiet">
            A mirror that sent it still counts it as sent: <code>shelfd library remove</code> removes it and notes that.
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
