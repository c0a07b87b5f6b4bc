import { formatTime } from '../../common/format.ts'
import { ActionButton, Dialog, useLoaded, WhenLoaded } from '../../common/view.tsx'
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
          <ActionButton label="Open the document" run={() => client.openDocument(resourceId)} />
        </div>
      )}
      <WhenLoaded what="what is known of it" found={found}>
        {({ fields }) => (
          <dl class="known">
            {fields
              // The title has the path already.
              .filter(([label]) => label !== 'path')
              .map(([label, text]) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{text.replaceAll(ISO_TIMES, formatTime)}</dd>
                </div>
              ))}
          </dl>
        )}
      </WhenLoaded>
    </Dialog>
  )
}
