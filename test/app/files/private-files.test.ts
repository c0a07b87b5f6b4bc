import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPemFile, readTextFile } from '../../../src/app/files/private-files.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('a certificate is read whatever the encoding of the comments around it', () => {
  const pem = Buffer.from('friendlyName: B\u00fcro\n-----BEGIN CERTIFICATE-----\nMII\n', 'latin1')
  const file = join(temporaryDirectory({ 'own.pem': pem }), 'own.pem')
  expect(readPemFile(file)?.text).toContain('-----BEGIN CERTIFICATE-----\nMII\n')
  expect(() => readTextFile(file), 'a text that decides something').toThrow(/own\.pem".*save it as UTF-8/)
})
