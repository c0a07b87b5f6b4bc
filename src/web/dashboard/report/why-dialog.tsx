import { Dialog } from '../../common/dialog.tsx'
import { formatTime } from '../../common/format.ts'
import { Failure, Loading } from '../../common/notice.tsx'
import { useLoaded } from '../../common/use-loaded.ts'
import { ActionButton, openDocument } from '../action-button.tsx'
import { describePlace } from '../labels.ts'
import { useSession } from '../session.ts'

export interface Explained {
  readonly mirror: string
  readonly path: string
  readonly resourceId: string | null
}

const ISO_TIMES = /\b\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z\b/g

export function WhyDialog({ explained, onClose }: { readonly explained: Explained; onClose(): void }) {
  const { client } = useSession()
  const { mirror, path, resourceId } = explained
  const found = useLoaded(`${mirror} ${path}`, (signal) => client.call('why', { mirror, path }, signal))
  return (
    <Dialog title={path || describePlace(`${mirror}: .`)} onClose={onClose}>
      {resourceId !== null && (
        <div class="actions">
          <ActionButton label="Open the document" run={() => openDocument(client, resourceId)} />
        </div>
      )}
      {found.error !== undefined && <Failure error={found.error} onRetry={found.retry} />}
      {!found.value && found.error === undefined && <Loading what="what is known of it" />}
      {found.value && (
        <dl class="known">
          {found.value.fields
            // The title names it.
            .filter(([label]) => label !== 'path')
            .map(([label, text]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{text.replaceAll(ISO_TIMES, formatTime)}</dd>
              </div>
            ))}
        </dl>
      )}
    </Dialog>
  )
}
