import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderConfig } from '../../../src/app/settings/draft.ts'
import { parseConfigFile } from '../../../src/app/settings/parse-file.ts'

describe('a written configuration', () => {
  test('a written configuration reads back as it was chosen', () => {
    const odd = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom(
        'null',
        'Yes',
        'No',
        'on',
        '~',
        '12',
        '1e3',
        '0x1F',
        'a: b',
        '# no',
        `\${HOME}`,
        `$\${A}`,
        '- x',
        '*.md',
      ),
    )
    const mirror = fc.record({ name: odd, path: odd, library: odd, remotePath: odd, gitignore: fc.constant(true) })
    fc.assert(
      fc.property(odd, odd, fc.array(mirror, { maxLength: 3 }), (tokenFile, file, mirrors) => {
        const clientCertificate = { certFile: file, keyFile: file, passphraseFile: file }
        const service = { url: 'https://library.example.com:8443', tokenFile, caFile: undefined, clientCertificate }
        const text = renderConfig({ service, mirrors })
        expect(parseConfigFile('config.yaml', text, { HOME: '/home/ada' }).raw).toEqual({
          service: { url: 'https://library.example.com:8443', tokenFile, clientCertificate },
          mirrors,
          limits: { newPerRun: 5000, newPerDay: 20000 },
        })
      }),
    )
  })

  test('a configuration without a service names none', () => {
    expect(parseConfigFile('config.yaml', renderConfig({ service: undefined, mirrors: [] }), {}).raw).toEqual({
      mirrors: [],
    })
  })
})
