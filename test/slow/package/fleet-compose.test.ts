import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { makeAuthority } from '../../support/certificates.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { expectExit, temporaryHome } from '../../support/home.ts'
import { needs } from '../../support/needs.ts'
import { createDatabase, encryptConnections } from '../../support/postgres.ts'
import { findProgram } from '../../support/programs.ts'

needs('postgres', 'psql')

const PLACE = join(import.meta.dirname, '../../../service/fleet')
const compose = parse(readFileSync(join(PLACE, 'compose.yaml'), 'utf8'), { merge: true })

interface Service {
  readonly volumes: readonly string[]
  readonly secrets: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

test('each service of the compose file has few rights, and what it names is there', () => {
  const services: Readonly<Record<string, Service>> = compose.services
  const own = { user: '1000:1000', read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }
  expect(Object.keys(services)).toEqual(['postgres', 'init', 'host'])
  for (const [name, service] of Object.entries(services)) {
    expect(service, name).toMatchObject(own)
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining([...service.secrets]))
    expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(service.depends_on ?? {})))
    for (const volume of service.volumes) {
      const [from = ''] = volume.split(':')
      if (from.startsWith('./')) expect(existsSync(join(PLACE, from)), from).toBe(true)
      else if (!from.startsWith('$')) expect(Object.keys(compose.volumes)).toContain(from)
    }
  }
})

test('its steps make a ledger and a host, and a second host joins from elsewhere, encrypted', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  await using database = await createDatabase('system')
  const home = temporaryHome()
  home.write('Papers', { 'a.md': 'a wombat\n', 'b.md': 'a numbat\n' })
  const { host, port } = database.address
  const secret = (name: string, value: string) => {
    writeFileSync(join(home.path, name), `${value}\n`, { mode: 0o600 })
    return join(home.path, name)
  }
  // The files and directories of the containers, by where they are here.
  const places: readonly (readonly [string, string])[] = [
    ['/run/secrets/ledger-password', secret('ledger-password', "a 'quoted' password")],
    ['/run/secrets/token', secret('token', service.token)],
    ['/mirrors/Papers', join(home.path, 'Papers')],
    ['%2Frun%2Fpostgresql', `${encodeURIComponent(database.socketDirectory)}:${port}`],
    ['https://library.example.com', service.url],
  ]
  const here = (text: string) => places.reduce((changed, [there, place]) => changed.replaceAll(there, place), text)

  const { postgres, init, host: daemon } = compose.services
  const besidePsql = dirname(findProgram('psql') ?? '')
  execFileSync('sh', [join(PLACE, 'create-ledger-role.sh')], {
    env: {
      ...{
        PATH: `${besidePsql}${delimiter}${process.env.PATH}`,
        PGHOST: database.socketDirectory,
        PGPORT: String(port),
      },
      PGPASSWORD: await database.address.password?.(),
      LEDGER_PASSWORD_FILE: here(postgres.environment.LEDGER_PASSWORD_FILE),
    },
  })
  onTestFinished(async () => {
    await using own = await createDatabase('system')
    await own.run('DROP DATABASE shelfd WITH (FORCE)')
    await own.run('DROP ROLE shelfd')
  })
  const configuration = here(readFileSync(join(PLACE, 'host.yaml'), 'utf8')).replace(
    '{ name: papers,',
    '{ name: papers, settle: 0s,',
  )
  home.write('config/shelfd', { 'config.yaml': configuration })
  const env = { SHELFD_TOKEN_FILE: here(init.environment.SHELFD_TOKEN_FILE), SHELFD_FIRST_POLL: '5ms' }
  expectExit(await home.run(init.command, env), 0, /Created the ledger/)
  expectExit(await home.run(init.command, env), 0, /is up to date/)
  const running = home.start(daemon.command, { env })
  const files = async () => (await home.json(['status'], env)).mirrors[0]?.files.searchable
  await expect.poll(files, { interval: 300 }).toBe(2)
  running.child.kill('SIGTERM')
  expect((await running.ended).exitCode).toBe(0)

  const [authority, other] = [makeAuthority(), makeAuthority('Another CA')]
  await encryptConnections(authority.issue({ names: ['localhost'] }))
  const settings = parse(readFileSync(join(home.path, 'config/shelfd/config.yaml'), 'utf8'))
  const laptop = temporaryHome()
  const joined = async (caFile: string, name = 'localhost') => {
    const fleet = { ...settings.fleet, database: `postgres://shelfd@${name}:${port}/shelfd`, host: 'laptop', caFile }
    laptop.write('config/shelfd', { 'config.yaml': JSON.stringify({ ...settings, fleet }) })
    return await laptop.run(['sync'], env)
  }
  expectExit(await joined(other.file), 7, /No safe connection.*certificate\. If.*fleet\.caFile"\n/)
  expectExit(await joined(authority.file, host), 7, /No safe connection.*Correct the host in "fleet\.database"/)
  expectExit(await joined(authority.file), 0, /^/)
  expect(service.count('uploadFile')).toBe(2)
  const encrypted = expect.stringMatching(/^encrypted \(TLSv1\.3\), certificate until \d{4}-\d\d-\d\d$/)
  expect((await laptop.json(['doctor'], env)).checks).toContainEqual(
    expect.objectContaining({ check: 'ledger', level: 'ok', message: encrypted }),
  )
  expect((await laptop.json(['fleet', 'status'], env)).hosts).toMatchObject([{ name: 'laptop' }, { name: 'nas' }])
})
