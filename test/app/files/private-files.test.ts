import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPemFile, readTextFile, rewriteFile, writePrivateFile } from '../../../src/app/files/private-files.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const CHANGED = { code: 'io-error', message: expect.stringContaining('another program has changed it meanwhile') }

function thrownBy(act: () => void): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return error
  }
}

test('a configuration that was saved meanwhile is not written over [S-28]', () => {
  const directory = temporaryDirectory({ 'config.yaml': 'saved meanwhile', 'config.yaml.new': 'my own' })
  const file = join(directory, 'config.yaml')
  expect(thrownBy(() => rewriteFile(file, 'new', 'what was read'))).toMatchObject(CHANGED)
  expect(thrownBy(() => rewriteFile(file, 'new', undefined))).toMatchObject(CHANGED)
  expect(readFileSync(file, 'utf8')).toBe('saved meanwhile')
  rewriteFile(file, 'new', 'saved meanwhile')
  expect(readFileSync(file, 'utf8')).toBe('new')
  expect(readFileSync(`${file}.new`, 'utf8')).toBe('my own')
  expect(readdirSync(directory)).toEqual(['config.yaml', 'config.yaml.new'])
})

test('a configuration keeps its mode and its link, and a new one is for its owner alone [S-05]', () => {
  const directory = temporaryDirectory({ 'real.yaml': 'old' })
  const file = join(directory, 'config.yaml')
  symlinkSync('real.yaml', file)
  const { mode } = statSync(file)
  rewriteFile(file, 'new', 'old')
  expect(readFileSync(join(directory, 'real.yaml'), 'utf8')).toBe('new')
  expect(statSync(file).mode).toBe(mode)
  symlinkSync('nowhere', join(directory, 'dangling'))
  rewriteFile(join(directory, 'dangling'), 'new', undefined)
  expect(readFileSync(join(directory, 'dangling'), 'utf8')).toBe('new')
  const other = join(directory, 'deeper', 'config.yaml')
  rewriteFile(other, 'new', undefined)
  writePrivateFile(other, 'newer')
  expect([readFileSync(other, 'utf8'), statSync(other).mode & 0o777]).toEqual(['newer', 0o600])
})

test('a certificate is read whatever the encoding of the comments around it', () => {
  const pem = Buffer.from('friendlyName: B\u00fcro\n-----BEGIN CERTIFICATE-----\nMII\n', 'latin1')
  const file = join(temporaryDirectory({ 'own.pem': pem }), 'own.pem')
  expect(readPemFile(file)?.text).toContain('-----BEGIN CERTIFICATE-----\nMII\n')
  expect(() => readTextFile(file), 'a text that decides something').toThrow(/own\.pem".*save it as UTF-8/)
})
