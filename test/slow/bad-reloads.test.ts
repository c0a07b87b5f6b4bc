import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { configure, isIdle, type RunningDaemon, startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { homeWithPapers } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { mountSmallDisk } from '../support/mounted-disk.ts'
import { needs } from '../support/needs.ts'

/** A daemon that reads its configuration again at a bad moment. */

const KEPT = 'cannot use the new configuration; the old one stays in force'
const TAKEN_OVER = 'the configuration was read again'

async function isHealthy(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Ends it in order. */
async function expectEnd(daemon: RunningDaemon): Promise<void> {
  expect(await daemon.stop()).toMatchObject({ exitCode: 0 })
}

describe('reloads at a bad moment', () => {
  test('a configuration that is spoilt while a reload waits for an upload does no harm [F-PR-20]', async () => {
    const { service, home, root } = await homeOnService({ 'a.txt': 'A' })
    const config = { mirrors: [{ name: 'papers', path: root, library: 'Research', settle: '20ms' }] }
    const port = await freePort()
    configure(home, config)
    const upload = service.holdUploads()
    const daemon = await startDaemon(home)
    await upload.begun
    configure(home, { ...config, health: { listen: `127.0.0.1:${port}` } })
    daemon.child.kill('SIGHUP')
    // The new configuration is read, and the old supervisor waits for its upload.
    await expect.poll(() => isHealthy(port)).toBe(true)
    writeFileSync(join(home.path, 'config/shelfd/config.yaml'), 'mirrors: [ {')
    upload.release()
    await daemon.logged(TAKEN_OVER)
    daemon.child.kill('SIGHUP')
    await daemon.logged(KEPT)
    home.write('Papers', { 'b.txt': 'B' })
    await daemon.until('the next file is sent', () => service.count('uploadFile') === 2)
    await expectEnd(daemon)
  })

  test('a daemon whose library cannot be served at its new address goes on as before [F-PR-20]', async () => {
    const home = homeWithPapers({ 'a.txt': 'A' })
    const config = { mirrors: [{ name: 'papers', path: '~/Papers', library: 'Research', settle: '20ms' }] }
    configure(home, config)
    await home.shelfd(['libraries', 'create', 'Research'])
    const daemon = await startDaemon(home)
    await daemon.until('all is sent', isIdle)
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const address = other.address()
    const listen = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    configure(home, { ...config, library: { listen } })
    daemon.child.kill('SIGHUP')
    await daemon.logged(KEPT)
    expect(daemon.log()).toContain(`Cannot serve the library on ${listen}: another program uses this port`)
    home.write('Papers', { 'b.txt': 'B' })
    await expect.poll(async () => (await home.json(['report'])).mirrors[0].counts).toMatchObject({ 'in-sync': 2 })
    expect((await daemon.until('it rests', isIdle)).mirrors[0]?.reason).toBeNull()
    await expectEnd(daemon)
  })

  test.runIf(process.platform === 'linux')(
    'a daemon whose state has no room left is reloaded and asked all the same [F-PR-20]',
    async () => {
      needs('mounts')
      const { home, root } = await homeOnService({ 'a.txt': 'A' })
      const disk = mountSmallDisk(home.stateDir, '6m')
      const mirror = { name: 'papers', path: root, library: 'Research', settle: '20ms' }
      const gone = { ...mirror, name: 'gone', path: home.write('Gone', {}), schedule: '0 3 * * *' }
      const config = { notify: { command: ['true'] }, mirrors: [{ ...mirror, schedule: '0 2 * * *' }, gone] }
      configure(home, config)
      const daemon = await startDaemon(home)
      await daemon.until('all is sent', ({ mirrors }) => mirrors.every(({ nextBatchAt }) => nextBatchAt !== null))
      fillUp(home.stateDir)
      configure(home, { mirrors: [{ ...mirror, schedule: '30 2 * * *' }] })
      daemon.child.kill('SIGHUP')
      await daemon.logged(TAKEN_OVER)
      expect((await home.shelfd(['status'])).exitCode).toBeLessThan(2)
      expect(await daemon.status()).toMatchObject({ mirrors: [{ name: 'papers' }] })
      disk.resize('20m')
      await expectEnd(daemon)
    },
  )
})

function fillUp(directory: string): void {
  for (let size = 2 ** 20; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (let index = 0; ; index += 1) writeFileSync(join(directory, `full-${size}-${index}`), Buffer.alloc(size))
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('ENOSPC')) throw error
    }
  }
}
