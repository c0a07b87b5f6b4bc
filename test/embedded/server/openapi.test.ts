import { expect, test } from 'vitest'
import { z } from 'zod'
import { OPENAPI_PATH, ROUTES } from '../../../src/contract/routes.ts'
import { startLibrary } from '../temporary-library.ts'

const operation = z.looseObject({
  operationId: z.string(),
  responses: z.record(z.string(), z.looseObject({ description: z.string().min(1) })),
  parameters: z.array(z.looseObject({ name: z.string(), schema: z.looseObject({ type: z.string() }) })).optional(),
})
const description = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })

async function readOperations() {
  const { library } = await startLibrary()
  const { paths } = description.parse(await (await fetch(library.url + OPENAPI_PATH)).json())
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ ...each, method: method.toUpperCase(), path })),
  )
}

test('the description names each operation as the contract does', async () => {
  const operations = await readOperations()
  const named = operations.map(({ operationId, method, path }) => [operationId, { method, path }])
  expect(Object.fromEntries(named)).toEqual(ROUTES)
  expect(operations).toHaveLength(Object.keys(ROUTES).length)
})

test('the description lists throttling for each operation', async () => {
  for (const { operationId, responses } of await readOperations()) {
    expect([operationId, responses['429']?.description]).toEqual([operationId, 'Too many requests'])
  }
})

test('the description types the parameters of signed URLs as the interface does', async () => {
  const expected = { expires: 'integer', tenant_id: 'integer', disposition: 'string' }
  const downloads = (await readOperations()).filter(({ operationId }) => operationId.startsWith('download'))
  expect(downloads).toHaveLength(4)
  for (const { operationId, parameters = [] } of downloads) {
    const types = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema.type]))
    expect([operationId, types]).toEqual([operationId, expect.objectContaining(expected)])
  }
})
