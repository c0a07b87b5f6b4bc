import { win32 } from 'node:path'
import { UsageError } from '../../foundation/errors.ts'
import {
  escapeXml,
  type Filling,
  type PlanInput,
  type ProgramCall,
  replaceOnce,
  type SystemServicePlan,
} from './system-service-plan.ts'

const TASK = 'shelfd'

/** Windows: a task that starts when the user signs in. */
export function planTask({ home, env, user }: PlanInput): SystemServicePlan {
  const schtasks = (verb: string, ...args: string[]): ProgramCall => ({
    program: 'schtasks',
    args: [verb, '/tn', TASK, ...args],
  })
  const localData = env.LOCALAPPDATA || win32.join(home, 'AppData', 'Local')
  const file = win32.join(localData, 'shelfd', 'shelfd-task.xml')
  const userName = env.USERDOMAIN ? `${env.USERDOMAIN}\\${user.name}` : user.name
  const end: ProgramCall = { ...schtasks('/end'), mayFail: true }
  return {
    template: 'shelfd-task.xml',
    file,
    fill: (template, filling) => fillTask(template, filling, userName),
    enable: [end, schtasks('/create', '/xml', file, '/f')],
    launch: [schtasks('/run')],
    start: schtasks('/run'),
    stop: schtasks('/end'),
    disable: [end, { ...schtasks('/delete', '/f'), mayFail: true }],
    forget: [],
    status: schtasks('/query', '/v', '/fo', 'LIST'),
    logs: () => undefined,
    nextSteps: ['The access token comes from the configuration (service.tokenFile)'],
  }
}

/** Fills the template, in UTF-16 with a byte order mark, as schtasks itself exports tasks. */
function fillTask(template: string, { command, tokenFile }: Filling, userName: string): Uint8Array {
  if (tokenFile !== undefined) {
    throw new UsageError('bad-usage', 'Cannot pass a token file to a Windows task: set service.tokenFile instead')
  }
  const [program = '', ...args] = command
  const replacements: [RegExp, string][] = [
    [/(?<=encoding=")UTF-8(?=")/, 'UTF-16'],
    [/(?<=<UserId>)[^<]*/g, escapeXml(userName)],
    [/(?<=<Command>)[^<]*/, escapeXml(program)],
    // Paths on Windows cannot contain quotation marks.
    [/(?<=<Arguments>)[^<]*/, escapeXml(args.map((word) => `"${word}"`).join(' '))],
  ]
  const filled = replacements.reduce((text, [pattern, value]) => replaceOnce(text, pattern, value), template)
  return Buffer.from(`\ufeff${filled}`, 'utf16le')
}
