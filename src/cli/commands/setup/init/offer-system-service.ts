import { UsageError } from '../../../../foundation/errors.ts'
import { createContext } from '../../../context.ts'
import { command as install } from '../../service/install.ts'
import type { Wizard } from './wizard.ts'

/** Installs the daemon with the service manager if the user agrees; returns whether it is installed. */
export async function offerSystemService({ context, flags, prompts, configFile }: Wizard): Promise<boolean> {
  const question = 'Keep it running? The service manager then starts "shelfd daemon" with this computer'
  const answer = flags.installService ?? ((await prompts?.confirm(question, false)) ? 'yes' : 'no')
  if (answer === 'no') return false
  const { readSettings } = await import('../../../../app/settings/read-settings.ts')
  const { io, config, quiet, verbosity, color, settingFlags } = context
  // The list of what ran is a message here.
  const around = { ...io, stdout: io.stderr }
  const shown = createContext(around, { config, json: false, quiet, verbosity, color, settingFlags }, () =>
    readSettings({ ...io, flags: { ...settingFlags, config: configFile } }),
  )
  try {
    await install.run(shown, { system: false, noStart: false, tokenFile: undefined })
    return true
  } catch (error) {
    // The configuration is written; without a service manager it can be used all the same.
    if (!(error instanceof UsageError) || flags.installService === 'yes') throw error
    context.printMessage(error.message)
    return false
  }
}
