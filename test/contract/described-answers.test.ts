import { Validator } from '@seriousme/openapi-schema-validator'
import { beforeAll, expect, test } from 'vitest'
import { needs } from '../support/needs.ts'
import { type RealResponse, ResponseValidator, toRealResponse } from './described-answers.ts'
import { startTarget } from './embedded-target.ts'
import { SENTENCES } from './sentences/all.ts'
import { Examination, NO_SUCH_THING } from './suite/examination.ts'
import { runSuite } from './suite/run-suite.ts'
import { samplesOf } from './suite/samples.ts'

/** Answers that a test may not cause, or only by a request that takes too long. */
const NOT_CAUSED = / (408|413|415|421|429|431|500|503|507)$/

let document: Record<string, unknown>
const answers: RealResponse[] = []

beforeAll(async () => {
  const { target, stop } = await startTarget()
  const examination = new Examination({
    ...target,
    fetch: async (url, init) => {
      const answer = await fetch(url, init)
      answers.push(await toRealResponse(url, init, answer.clone()))
      return answer
    },
  })
  document = await examination.description()
  for await (const finding of runSuite(SENTENCES, examination)) expect(finding.result).not.toBe('failed')
  await askForTheRest(examination)
  await examination.cleanUp()
  await stop()
})

test('the description is valid OpenAPI 3.1 by another program', async () => {
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
})

test('every answer conforms to the description', () => {
  const validator = new ResponseValidator(document)
  const validated = answers.flatMap((answer) => validator.validate(answer) ?? [])
  expect(validated.length).toBeGreaterThan(300)
  expect(new Set(validated.filter(({ fault }) => fault).map(({ answered, fault }) => `${answered}: ${fault}`))).toEqual(
    new Set(),
  )
})

test('every described answer was seen, except for those of overload', () => {
  needs('ffmpeg', 'ffprobe')
  const validator = new ResponseValidator(document)
  const seen = new Set(answers.map((answer) => validator.validate(answer)?.answered))
  const unseen = validator.described.filter((answer) => !seen.has(answer) && !NOT_CAUSED.test(answer))
  expect(unseen).toEqual([])
})

test('an answer that differs from the description is noticed', () => {
  const validator = new ResponseValidator(document)
  const answer = { method: 'GET', pathname: '/api/v1/libraries', status: 200, mediaType: 'application/json', json: {} }
  expect(validator.validate(answer)?.fault).toContain("must have required property 'items'")
  expect(validator.validate({ ...answer, status: 418 })?.fault).toContain('not described')
  expect(validator.validate({ ...answer, mediaType: 'text/html' })?.fault).toContain('text/html is not described')
  expect(validator.validate({ ...answer, mediaType: undefined })?.fault).toBe('it has no body')
})

/** Causes the answers that only this library gives, beyond the interface. */
async function askForTheRest(it: Examination): Promise<void> {
  const [asset, video] = [await samplesOf(it).asset(), await samplesOf(it).video()]
  const { record, library } = await samplesOf(it).resource()
  const owner = it.client()
  const pictures = ['scene', 'frame'].map((kind) => `/assets/${video}/representations/${kind}?timestamp_seconds=1`)
  for (const path of [`/assets/${asset}`, `/resources/${record.id}`, ...pictures]) {
    const { headers } = await owner.get(path)
    for (const header of [
      { range: 'bytes=0-1' },
      { range: 'bytes=99999999-' },
      { 'if-none-match': String(headers.get('etag')) },
    ]) {
      await owner.send(path, { headers: header })
    }
    await owner.get(`${path}${path.includes('?') ? '&' : '?'}disposition=elsewhere`)
  }
  const steward = it.client('steward')
  for (const path of [`/resources/${record.id}`, `/libraries/${library}/resources/${record.id}`])
    await steward.get(path)
  const viewUrls = (id: string) => `/resources/${id}/view-urls`
  await steward.call('POST', viewUrls(record.id))
  await owner.call('POST', viewUrls(NO_SUCH_THING))
  await owner.call('POST', viewUrls(record.id), { ttl_minutes: 0 })
  await owner.upload(NO_SUCH_THING, { name: 'a.txt', content: 'a' })
  await owner.get(`/libraries/${library}/resources/${record.id}?assets_from=x`)
  await owner.get('/search/resources')
  const made = await it.makeLibrary('with a resource')
  const { json } = await owner.upload(made.id, { name: 'a.txt', content: 'a' })
  const path = `/libraries/${made.id}/resources/${json.id}`
  const [nobody, reader] = [it.clientWith(''), it.client('reader')]
  // The last one finds it gone.
  for (const client of [nobody, reader, owner, owner]) await client.call('DELETE', path)
  await steward.get(`/search/resources?query=x&library_ids[]=${library}`)
}
