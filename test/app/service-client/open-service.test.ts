import { expect, test } from 'vitest'
import { openService } from '../../../src/app/service-client/open-service.ts'
import { findHolder } from '../../../src/embedded/storage/data-directory.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { createRedactor } from '../../../src/foundation/text/redaction.ts'
import { ServiceClient } from '../../contract/service-client.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { readSettingsWith } from '../settings/read-settings-with.ts'

test('only a process that keeps running embeds the documents of its library', async () => {
  const home = temporaryDirectory()
  const env = { XDG_STATE_HOME: `${home}/state`, XDG_DATA_HOME: `${home}/data` }
  const { signal } = new AbortController()
  const around = { env, cwd: '/', home, logger: silentLogger, redactor: createRedactor(), signal }
  const leavesToOthers: boolean[] = []
  const settings = readSettingsWith({ env })
  for (const isLongLived of [false, true]) {
    await using _service = await openService(settings, { ...around, isLongLived })
    const holder = findHolder(settings.service.dataDir)
    if (!holder) throw new Error('Nobody holds the library')
    const client = new ServiceClient({ ...holder, settled: async () => {} })
    const library = await client.createLibrary()
    await client.uploaded(library, { name: 'a.txt', content: 'A vessel.' })
    const notice = async () => (await client.get('/search/resources?query=vessel')).json.notice
    await expect.poll(notice).toContain('Meaning is ')
    leavesToOthers.push(String(await notice()).includes('The daemon and "shelfd serve" embed '))
  }
  expect(leavesToOthers).toEqual([true, false])
})
