import { libraryRecord } from '../../../contract/records.ts'
import { endpoint } from '../../http/endpoint.ts'
import { requireLibrary } from '../../http/require-access.ts'
import { libraryBody } from './library-body.ts'

/** 4.8 */
export const showLibrary = endpoint({
  route: 'showLibrary',
  section: '4.8',
  summary: 'Show a library',
  description: 'A library that exists but that the credential cannot read is answered with 403.',
  answers: { 200: { description: 'The library', shape: libraryRecord } },
  errors: [401, 403, 404],
  handle: (call) => libraryBody(requireLibrary(call, 'read')),
})
