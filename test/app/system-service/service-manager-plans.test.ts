import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  type PlanInput,
  planSystemService,
  type SystemServicePlan,
} from '../../../src/app/system-service/service-manager-plans.ts'
import { UsageError } from '../../../src/foundation/errors.ts'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { SERVICE_FILES, verifyUnit } from '../../support/verify-unit.ts'

const FILLING = { command: ['/opt/node', '/opt/shelfd/main.js', 'daemon'], tokenFile: undefined }

test.each([
  [false, '/home/ada/.config/systemd/user/shelfd.service'],
  [true, '/etc/systemd/system/shelfd.service'],
])('a systemd unit goes where its manager looks (system: %s)', (isSystem, file) => {
  expect(planWith({ isSystem }).file).toBe(file)
})

test('a systemd unit goes below XDG_CONFIG_HOME if that is absolute', () => {
  expect(planWith({ env: { XDG_CONFIG_HOME: '/data/conf' } }).file).toBe('/data/conf/systemd/user/shelfd.service')
  expect(planWith({ env: { XDG_CONFIG_HOME: 'conf' } }).file).toBe('/home/ada/.config/systemd/user/shelfd.service')
})

test.each([false, true])('systemd accepts the unit and odd paths (system: %s)', async (isSystem) => {
  const directory = temporaryDirectory()
  const program = join(directory, 'odd $HOME 100%', 'node')
  mkdirSync(join(program, '..'))
  copyFileSync('/bin/true', program)
  const plan = planWith({ isSystem })
  const text = fill(plan, { command: [program, '/a "b"/$c\\d%h.js', 'daemon'], tokenFile: '/etc/100%/my token' })
  expect(text).toContain(' "/a \\"b\\"/$$c\\\\d%%h.js" "daemon"\n')
  expect(text).toContain('\nLoadCredential=token:/etc/100%%/my token\n')
  const file = join(directory, 'shelfd.service')
  writeFileSync(file, text)
  expect(await verifyUnit(file, !isSystem)).toEqual([])
})

test('a program that systemd cannot start is refused', () => {
  expect(() => fill(planWith(), { ...FILLING, command: ['/a "b"/node'] })).toThrow(UsageError)
})

test.each([
  [{ isSystem: false }, 'shelfd service status, shelfd service logs'],
  [{ isSystem: true }, 'shelfd service status --system, shelfd service logs --system'],
  [{ platform: 'darwin' }, 'shelfd service status, shelfd service logs'],
  [{ platform: 'win32' }, 'shelfd service status'],
] as const)('the last step after an installation names commands that work for it: %j', (input, commands) => {
  expect(planWith(input).nextSteps.at(-1)).toBe(`See its state with: ${commands}`)
})

describe('launchd', () => {
  const plan = planWith({ platform: 'darwin', home: '/Users/ada' })

  test('the launchd agent is a property list with our paths', () => {
    expect(plan.file).toBe('/Users/ada/Library/LaunchAgents/org.shelfd.daemon.plist')
    const list = parseWith(
      'import plistlib,json,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))',
      fill(plan, { ...FILLING, command: ['/opt/node', '/A & B/<main>.js', 'daemon'] }),
    )
    expect(list).toMatchObject({
      Label: 'org.shelfd.daemon',
      ProgramArguments: ['/opt/node', '/A & B/<main>.js', 'daemon'],
      StandardErrorPath: '/Users/ada/Library/Logs/shelfd.log',
      StandardOutPath: '/Users/ada/Library/Logs/shelfd.log',
      KeepAlive: { SuccessfulExit: false },
    })
  })

  test('the logs of launchd are read from its file', () => {
    const call = { program: 'tail', args: ['-n', '9', '-F', '/Users/ada/Library/Logs/shelfd.log'] }
    expect(plan.logs({ lines: 9, follow: true })).toEqual(call)
  })
})

describe('Windows', () => {
  const env = { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local', USERDOMAIN: 'DESK' }
  const plan = planWith({ platform: 'win32', home: 'C:\\Users\\ada', env })

  test('the Windows task is UTF-16 XML with our paths', () => {
    expect(plan.file).toBe('C:\\Users\\ada\\AppData\\Local\\shelfd\\shelfd-task.xml')
    const bytes = plan.fill(template(plan), {
      ...FILLING,
      command: ['C:\\N & N\\node.exe', 'C:\\x y\\main.js', 'daemon'],
    })
    const read = `
import json, sys, xml.etree.ElementTree as tree
task = tree.fromstring(sys.stdin.buffer.read())
print(json.dumps([[e.tag.split('}')[1], e.text] for e in task.iter()]))`
    const elements = parseWith(read, bytes)
    expect(elements).toEqual(
      expect.arrayContaining([
        ['Command', 'C:\\N & N\\node.exe'],
        ['Arguments', '"C:\\x y\\main.js" "daemon"'],
        ['ExecutionTimeLimit', 'PT0S'],
      ]),
    )
    expect(JSON.stringify(elements).match(/DESK\\\\ada/g)).toHaveLength(2)
    expect(JSON.stringify(elements)).not.toContain('YOUR-')
  })

  test('no logs are offered on Windows', () => {
    expect(plan.logs({ lines: 9, follow: false })).toBeUndefined()
  })
})

describe('limits of a system', () => {
  test.each(['darwin', 'win32'] as const)('a system service and a token file are refused on %s', (platform) => {
    expect(() => planWith({ platform, isSystem: true })).toThrow(UsageError)
    expect(() => fill(planWith({ platform }), { ...FILLING, tokenFile: '/token' })).toThrow('service.tokenFile')
  })

  test('an unknown platform is refused', () => {
    const message = 'Cannot manage a service: there is no known service manager on freebsd'
    expect(() => planWith({ platform: 'freebsd' })).toThrow(message)
  })
})

function planWith(input: Partial<PlanInput> = {}): SystemServicePlan {
  const user = { uid: 501, name: 'ada' }
  return planSystemService({ platform: 'linux', isSystem: false, home: '/home/ada', env: {}, user, ...input })
}

function template(plan: SystemServicePlan): string {
  return readFileSync(join(SERVICE_FILES, plan.template), 'utf8')
}

function fill(plan: SystemServicePlan, filling: Parameters<SystemServicePlan['fill']>[1]): string {
  return plan.fill(template(plan), filling).toString()
}

/** The JSON that a line of Python prints for the input, parsed. */
function parseWith(code: string, input: string | Uint8Array): unknown {
  needs('python3')
  return JSON.parse(execFileSync('python3', ['-c', code], { input, encoding: 'utf8' }))
}
