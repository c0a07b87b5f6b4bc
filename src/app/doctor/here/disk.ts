import { assessDisk } from '../../../rules/doctor/assess-disk.ts'
import { nearestDirectory } from '../../files/nearest-directory.ts'
import type { Check } from '../check.ts'

/** Whether there is room for the state and the embedded library. */
export const disk: Check = {
  name: 'disk',
  run: async (context) => {
    const settings = await context.settings().catch(() => undefined)
    const dataDirs = settings?.service.kind === 'embedded' ? [settings.service.dataDir] : []
    const findings = [context.stateDir, ...dataDirs].map((place) =>
      assessDisk(place, context.machine.freeBytes(nearestDirectory(place))),
    )
    const troubled = findings.filter(({ level }) => level !== 'ok')
    return troubled.length > 0 ? troubled : findings.slice(0, 1)
  },
}
