import { describe, expect, it } from 'vitest'
import { accessContext } from '../../src/contract/records.ts'
import { API_PREFIX, OPENAPI_PATH, ROUTES } from '../../src/contract/routes.ts'
import { readAnswer, ServiceClient } from './service-client.ts'
import type { ContractContext } from './service-contract.ts'

export function accessContract(context: ContractContext): void {
  describe('access (4.1, 5, 7)', () => {
    it('shows the context of a valid credential', async () => {
      const { status, json } = await context.client.get('/auth/check')
      expect(status).toBe(200)
      expect(accessContext.parse(json).abilities).toContain('library.create')
    })

    it.each([
      ['no credential', ''],
      ['an unknown token', 'Bearer nothing'],
      ['another scheme', 'Basic eDp5'],
    ])('refuses %s with 401 everywhere', async (_, authorization) => {
      const stranger = new ServiceClient(context.service, authorization)
      for (const { method, path } of Object.values(ROUTES)) {
        const { status, json } = await stranger.call(method, path.slice('/v1'.length).replace(/[{}]/g, ''))
        expect({ path, status }).toEqual({ path, status: 401 })
        expect(json.message).toEqual(expect.any(String))
      }
    })

    it('answers unknown routes with 404 as JSON', async () => {
      const { status, json } = await context.client.get('/nothing/here')
      expect({ status, message: json.message }).toEqual({ status: 404, message: expect.any(String) })
    })

    it('answers malformed JSON with 422 as JSON', async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await context.client.send('/libraries', { method: 'POST', body: '{"name":', headers })
      expect({ status: answer.status, errors: answer.json.errors }).toEqual({ status: 422, errors: expect.any(Object) })
    })

    it('describes every route without a credential', async () => {
      const { status, json } = await readAnswer(await fetch(context.service.url + OPENAPI_PATH))
      expect(status).toBe(200)
      const paths = Object.keys(json.paths ?? {}).map((path) => path.replace(new RegExp(`^${API_PREFIX}`), ''))
      expect(paths.toSorted()).toEqual([...new Set(Object.values(ROUTES).map(({ path }) => path))].toSorted())
    })
  })
}
