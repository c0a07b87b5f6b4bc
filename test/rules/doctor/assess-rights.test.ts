import { describe, expect, test } from 'vitest'
import type { AccessContext } from '../../../src/contract/records.ts'
import { assessCredential, assessRights, listCredentialWarnings } from '../../../src/rules/doctor/assess-rights.ts'

const ALL = ['read', 'resource.create', 'update']
const ABILITIES = ['library.all.read', 'library.all.resource.create', 'library.all.update']

function library(access: string[]): AccessContext['libraries'][number] {
  return { id: '1', name: 'Papers', access }
}

/** What a token says of itself; by default all that mirroring needs, and no more. */
function access(more: Partial<AccessContext> = {}): AccessContext {
  const tenant = { id: 1, name: 'Acme', slug: 'acme' }
  const user = { id: 2, name: 'Ada', email: 'ada@example.com' }
  const base = { tenant, user, grant_type: 'token', interfaces: ['api'], abilities: [], libraries: [library(ALL)] }
  return { ...base, ...more }
}

describe('the rights on a library', () => {
  test.each([
    ['all rights on the library', ALL, [], undefined],
    ['all abilities', [], ABILITIES, undefined],
    ['some of both', ['update'], ABILITIES.slice(0, 2), undefined],
    ['reading alone', ['read'], [], 'lacks resource.create, update'],
    ['rights of another kind', ['resource.delete'], ['library.create'], 'lacks read, resource.create, update'],
  ])('a mirror needs to list, add to and update its library: %s', (_, rights, abilities, lack) => {
    const finding = assessRights(library(rights), abilities)
    expect([finding.level, finding.code]).toEqual(lack ? ['failed', 'right-missing'] : ['ok', undefined])
    expect(finding.message).toContain(`Papers: ${lack ? `the credential ${lack}` : 'may be'}`)
    expect(finding.remedy).toEqual(lack && expect.stringContaining('create a token'))
  })
})

describe('a credential', () => {
  test.each<[string, Partial<AccessContext>, RegExp[]]>([
    ['what mirroring needs, for one library', {}, []],
    ['what mirroring needs, for libraries to come', { libraries: [], abilities: ABILITIES }, []],
    ['deletion', { abilities: ['library.create', 'library.delete'] }, [/may delete \(library\.delete\)/]],
    [
      'deletion in one library',
      { libraries: [library([...ALL, 'resource.delete'])] },
      [/may delete \(resource\.delete\)/],
    ],
    ['another interface', { interfaces: ['mcp'] }, [/not enabled for the API/]],
    ['reading alone', { libraries: [library(['read'])] }, [/may not create resources in any library/]],
    ['nothing', { interfaces: [], libraries: [] }, [/not enabled for the API/, /nothing can be sent/]],
  ])('a credential for too much or too little is a warning: one for %s', (_, more, expected) => {
    const matching = expected.map((words) => expect.stringMatching(words))
    expect(listCredentialWarnings(access(more))).toEqual(matching)
    const [first, ...others] = assessCredential(access(more), 'the environment')
    expect(first).toMatchObject({ level: 'ok', message: 'Ada, tenant Acme, token from the environment' })
    expect(others).toMatchObject(matching.map((message) => ({ level: 'warning', message })))
  })

  test('a credential of no user is named by its tenant', () => {
    const [first] = assessCredential(access({ user: null }), 'a file')
    expect(first).toMatchObject({ level: 'ok', message: 'no user, tenant Acme, token from a file' })
  })
})
