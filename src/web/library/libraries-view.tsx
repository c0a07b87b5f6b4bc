import type { ViewProps } from '../common/address.ts'
import { List } from '../common/list.tsx'
import { Notice } from '../common/notice.tsx'
import { ViewHeading } from '../common/view-heading.tsx'
import { directoryAddress } from './addresses.ts'
import { useSession } from './session.ts'

export function LibrariesView({ cameFrom, takesFocus }: ViewProps) {
  const { libraries } = useSession()
  return (
    <section>
      <ViewHeading title="Libraries" takesFocus={takesFocus} />
      {libraries.length === 0 && (
        <Notice tone="plain">
          There is no library that your token may read. The right is <code>read</code>; whoever runs the server can give
          it.
        </Notice>
      )}
      <List label="Libraries" cameFrom={cameFrom}>
        {libraries.map(({ id, name, access }) => (
          <li key={id}>
            <a class="item" href={directoryAddress(id, '/')}>
              <span class="name">{name}</span>
              <span class="quiet">{access.includes('resource.create') ? 'read and upload' : 'read'}</span>
            </a>
          </li>
        ))}
      </List>
    </section>
  )
}
