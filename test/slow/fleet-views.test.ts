import { describe, expect, test } from 'vitest'
import { openFleetView } from '../../src/ledger/postgres/postgres-fleet-view.ts'
import type { DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import { isIdle, startDaemon } from '../support/daemon.ts'
import { fleetOf } from '../support/fleet-of-hosts.ts'
import { expectExit, temporaryHome } from '../support/home.ts'
import { needsPostgres } from '../support/postgres.ts'

needsPostgres()

describe('what people see of the hosts', () => {
  test('a host that publishes numbers only names no path and no message [S-30]', async () => {
    await using fleet = await fleetOf()
    fleet.service.answer = ({ route, body }) =>
      route === 'uploadFile' && body.includes('poison') ? { status: 422, body: { message: 'No.' } } : undefined
    const papers = { 'good.md': 'good', 'secret-plan.md': 'poison' }
    await fleet.sync('nas', papers, 1)
    await fleet.sync('pc', { 'other.md': 'other', 'hidden-plan.md': 'poison 2' }, 1, { publish: 'counts' })
    await using view = openFleetView(fleet.database.address)
    expect(await view.listMirrors(null)).toMatchObject([
      { host: 'nas', name: 'papers', path: expect.stringMatching(/Papers$/), files: { known: 2, needAttention: 1 } },
      { host: 'pc', name: 'papers', path: null, files: { known: 2, needAttention: 1 }, problems: 1 },
    ])
    expect(await view.listProblems({ hostId: null, limit: 9 })).toMatchObject([
      { host: 'nas', path: 'secret-plan.md', content: { stage: 'upload', tries: 1 } },
    ])
    expect(await view.listRuns({ hostId: null, limit: 9 })).toMatchObject([
      { host: 'pc', mirrors: [{ sent: 1, problems: 1 }] },
      { host: 'nas', mirrors: [{ sent: 1, problems: 1 }] },
    ])
    const tables = await fleet.database.run("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'shelfd'")
    expect(tables.length).toBeGreaterThan(15)
    for (const { name } of tables) {
      const rows = await fleet.database.run(`SELECT x::text AS told FROM shelfd.${name} x`)
      expect(JSON.stringify(rows), String(name)).not.toContain('hidden-plan')
    }
    const third = await fleet.sync('third', { 'own.md': 'poison 2' }, 1)
    const kept = 'keeps to itself what the service said'
    expect((await third.shelfd(['failed', 'list'])).stdout).toContain(
      `Cannot upload "own.md", as host "pc" could not: that host ${kept}`,
    )
    expect((await third.shelfd(['why', 'Papers/own.md', '--fleet'])).stdout).toContain(`for pc: it ${kept}`)
  })
})

describe('commands that speak of all hosts', () => {
  test('name the host of each mirror, run and failed file', async () => {
    await using fleet = await fleetOf()
    fleet.service.answer = ({ route, body }) =>
      route === 'uploadFile' && body.includes('poison') ? { status: 422, body: { message: 'No.' } } : undefined
    const nas = await fleet.sync('nas', { 'a.md': 'a', 'bad.md': 'poison' }, 1)
    const pc = await fleet.sync('pc', { 'a.md': 'a', 'b.md': 'b', 'same.md': 'poison' }, 1)

    const hosts = await nas.shelfd(['fleet', 'hosts'])
    expect(hosts.stdout).toMatch(
      /HOST +VERSION +LAST BEAT +MIRRORS +WAITING +PROBLEMS +SENT IN 24 H\nnas .* 1 ! +0 +1 +1\npc /,
    )
    const status = await nas.shelfd(['status', '--fleet'])
    expect(status.stdout).toMatch(/^second sends +0$/m)
    expect(status.stdout).toMatch(/^nas +papers +! .* · last run \d+ s ago .*\npc +papers +! /m)
    const ofPc = await nas.json(['status', '--host', 'pc'])
    expect(ofPc).toMatchObject({ secondSends: 0, hosts: [{ name: 'pc' }], mirrors: [{ host: 'pc', name: 'papers' }] })
    expectExit(await nas.shelfd(['status', '--host', 'laptop']), 2, /no host "laptop"; "shelfd fleet hosts" lists them/)
    expectExit(await nas.shelfd(['status', '--host', 'pc', '--fleet']), 2, /either --fleet or --host NAME/)

    const history = await nas.json(['history', '--fleet'])
    expect(history.runs).toMatchObject([
      { host: 'pc', verdict: 'failed', mirrors: [{ name: 'papers', sent: 1 }] },
      { host: 'nas', verdict: 'failed', mirrors: [{ name: 'papers', sent: 1 }] },
    ])
    expect((await nas.shelfd(['history', '--fleet'])).stdout).toMatch(/^pc .* ended with problems /m)
    expect((await nas.json(['history', 'papers', '--fleet', '--limit', '1'])).runs).toHaveLength(1)
    expect((await nas.json(['history', 'notes', '--fleet'])).runs).toEqual([])

    const failed = await nas.json(['failed', 'list', '--fleet'])
    expect(failed.contents).toMatchObject([
      { host: 'nas', path: 'bad.md', content: { stage: 'upload' } },
      { host: 'pc', path: 'same.md', content: { stage: 'upload' } },
    ])
    expect((await nas.shelfd(['failed', 'list', '--host', 'pc'])).stdout).toMatch(/^pc +papers: same\.md +/m)

    const report = await nas.shelfd(['report', '--fleet'])
    expect(report.stdout).toMatch(/^nas +papers +2 +1 +0 +0 +1 /m)
    expect(report.stdout).toMatch(/^! pc: same\.md: .*\[/m)
    expectExit(await nas.shelfd(['report', '--fleet', '--format', 'html']), 2, /accepts --json/)

    const copy = await pc.shelfd(['why', 'Papers/a.md', '--fleet'])
    expect(copy.stdout).toMatch(/^sent by +nas, /m)
    const refused = await pc.shelfd(['why', 'Papers/same.md'])
    expect(refused.stdout).toMatch(/^refused +for nas: .*\nfailed at nas +papers: bad\.md$/m)
    const there = await pc.shelfd(['why', 'bad.md', '--host', 'nas'])
    expect(there.stdout).toMatch(/^host +nas\nmirror +papers .*\npath +bad\.md\nproblem +.*\[/m)
    expectExit(await pc.shelfd(['why', 'a.md', '--host', 'nas']), 2, /reported no problem/)
    expectExit(await temporaryHome().shelfd(['status', '--fleet']), 2, /no section "fleet"/)
  })

  test('tell that another host has sent what this one has not', async () => {
    await using fleet = await fleetOf()
    const pc = await fleet.host('pc', { 'a.md': 'a' })
    expect((await pc.sync(['--max-new', '0'])).exitCode).toBe(8)
    const nas = await fleet.sync('nas', { 'a.md': 'a' })
    const { stdout } = await pc.shelfd(['why', 'Papers/a.md'])
    expect(stdout).toMatch(/^state +sent by nas; this host records that with its next run$/m)
    expect(stdout).toMatch(/^sent by +nas, /m)
    expect(stdout).not.toContain('not sent')
    expect((await nas.shelfd(['why', 'Papers/a.md', '--fleet'])).stdout).toMatch(/^state +stored$/m)
  })

  test('tell who sends a file now', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', { 'slow.md': 'slow' })
    const pc = await fleet.host('pc', { 'slow.md': 'slow' })
    const held = fleet.service.holdUploads(1, 1)
    const sending = nas.sync([])
    await held.begun
    const waiting = pc.sync([])
    await expect
      .poll(async () => (await pc.shelfd(['why', 'Papers/slow.md'])).stdout, { timeout: 20_000, interval: 200 })
      .toMatch(/^being sent +by nas since /m)
    held.release()
    for (const run of [sending, waiting]) expect((await run).exitCode).toBe(0)
  })
})

describe('orders to another host', () => {
  test('pause and resume its mirrors, and sync them, within a third of the lease', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.host('nas', { 'a.md': 'a' })
    const pc = await fleet.sync('pc', { 'b.md': 'b' })
    expectExit(await pc.shelfd(['fleet', 'order', 'nas', 'pause']), 2, /no host "nas"/)
    const daemon = await startDaemon(nas)
    await daemon.until('all sent', isIdle)
    await expect
      .poll(async () => (await pc.json(['status', '--host', 'nas'])).mirrors, { timeout: 90_000 })
      .toHaveLength(1)
    expectExit(await pc.shelfd(['fleet', 'order', 'nas', 'pause', 'notes']), 2, /"nas" has no mirror "notes"/)

    const isHeld = ({ mirrors: [mirror] }: DaemonStatus) => mirror?.reason?.code === 'paused'
    expectExit(
      await pc.shelfd(['fleet', 'order', 'nas', 'pause', 'papers']),
      0,
      /Ordered: pause papers; "nas" takes it/,
    )
    await daemon.until('paused', isHeld)
    expectExit(await pc.shelfd(['fleet', 'order', 'nas', 'resume']), 0, /Ordered: resume all mirrors/)
    await daemon.until('resumed', (status) => !isHeld(status))
    const runsBefore = (await nas.json(['history'])).runs.length
    expectExit(await pc.shelfd(['fleet', 'order', 'nas', 'sync']), 0, /Ordered: sync all mirrors/)
    await expect.poll(async () => (await nas.json(['history'])).runs.length, { timeout: 20_000 }).toBe(runsBefore + 1)
  })

  test('a pause holds for the next daemon where a run takes the order', async () => {
    await using fleet = await fleetOf()
    const nas = await fleet.sync('nas', { 'a.md': 'a' })
    expectExit(await nas.shelfd(['fleet', 'order', 'nas', 'pause']), 0, /"nas" takes it once shelfd runs there again/)
    nas.write('Papers', { 'slow.md': 'slow' })
    const held = fleet.service.holdUploads(1, 1)
    const sending = nas.sync([])
    await held.begun
    await expect.poll(async () => (await nas.json(['status'])).mirrors[0].isPaused, { timeout: 20_000 }).toBe(true)
    held.release()
    expect((await sending).exitCode).toBe(0)
  })
})
