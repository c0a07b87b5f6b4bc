import { readXmlPart } from './xml-part.ts'
import type { ZipEntry } from './zip.ts'

const ENCRYPTION = 'META-INF/encryption.xml'
/** By these, books make their fonts useless outside of them; the text is open. */
const OBFUSCATION: readonly string[] = ['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']

/** Throws when a book (EPUB) names parts that only a reader with the right to it can decrypt. */
export async function checkRights(bytes: Buffer, entries: readonly ZipEntry[]): Promise<void> {
  const encryption = entries.find(({ name }) => name === ENCRYPTION)
  if (!encryption) return
  await readXmlPart(bytes, encryption, {
    onOpen: (name, { Algorithm: algorithm }) => {
      if (name !== 'EncryptionMethod' || OBFUSCATION.includes(algorithm ?? '')) return
      throw new Error('The book is encrypted: its seller allows only certain programs to read it')
    },
  })
}
