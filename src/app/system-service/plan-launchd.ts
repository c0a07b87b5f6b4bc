import { join } from 'node:path/posix'
import { UsageError } from '../../foundation/errors.ts'
import {
  escapeXml,
  type Filling,
  type PlanInput,
  type ProgramCall,
  replaceOnce,
  type SystemServicePlan,
} from './system-service-plan.ts'

const LABEL = 'org.shelfd.daemon'

/** launchd: an agent of the user's graphical session. */
export function planLaunchd({ home, user }: PlanInput): SystemServicePlan {
  const session = `gui/${user.uid}`
  const agent = `${session}/${LABEL}`
  const launchctl = (...args: string[]): ProgramCall => ({ program: 'launchctl', args })
  const file = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const logFile = join(home, 'Library', 'Logs', 'shelfd.log')
  const unload: ProgramCall = { ...launchctl('bootout', agent), mayFail: true }
  return {
    template: `${LABEL}.plist`,
    file,
    fill: (template, filling) => fillAgent(template, filling, logFile),
    enable: [unload],
    // Loading the file starts the agent; otherwise launchd loads it when the user signs in.
    launch: [launchctl('bootstrap', session, file)],
    start: launchctl('kickstart', agent),
    stop: launchctl('kill', 'SIGTERM', agent),
    disable: [unload],
    forget: [],
    status: launchctl('print', agent),
    logs: ({ lines, follow }) => ({ program: 'tail', args: ['-n', String(lines), ...(follow ? ['-F'] : []), logFile] }),
    nextSteps: [
      'macOS asks once for each protected folder (Documents, Desktop …) whether node may read it; answer at the screen',
      'The access token comes from the configuration (service.tokenFile)',
    ],
  }
}

function fillAgent(template: string, { command, tokenFile }: Filling, logFile: string): string {
  if (tokenFile !== undefined) {
    throw new UsageError('bad-usage', 'Cannot pass a token file to launchd: set service.tokenFile instead')
  }
  const words = command.map((word) => `\n    <string>${escapeXml(word)}</string>`).join('')
  const array = /(?<=<key>ProgramArguments<\/key>\s*<array>)[\s\S]*?(?=\n {2}<\/array>)/
  const filled = replaceOnce(template, array, words)
  return ['StandardErrorPath', 'StandardOutPath'].reduce((text, key) => {
    return replaceOnce(text, new RegExp(`(?<=<key>${key}</key>\\s*<string>)[^<]*`), escapeXml(logFile))
  }, filled)
}
