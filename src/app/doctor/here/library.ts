import { assertOwnDirectory } from '../../../foundation/files/private-directory.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { nodeFileSystem } from '../../../local/read/file-system.ts'
import { sizeOnDisk } from '../../../local/read/size-on-disk.ts'
import { ok } from '../../../rules/doctor/finding.ts'
import type { Check } from '../check.ts'
import { given } from '../unchecked.ts'

/** Whether the embedded library's database is intact, and how much room all its files take. */
export const library: Check = {
  name: 'library',
  run: async (context) => {
    const { service } = await given(context.settings(), 'configuration')
    if (service.kind === 'configured') return []
    const { dataDir } = service
    assertOwnDirectory(dataDir, { isReader: true })
    const { examineLibrary } = await import('../../../embedded/integrity/examine-library.ts')
    const examined = examineLibrary(dataDir)
    if (!examined) return [ok(`on this computer, nothing in it yet (${dataDir})`)]
    const condition = examined.isRead ? 'intact' : 'too large to be read at once'
    return [ok(`on this computer, ${condition}, ${formatSize(sizeOnDisk(nodeFileSystem, dataDir))} (${dataDir})`)]
  },
}
