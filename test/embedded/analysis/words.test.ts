import fc from 'fast-check'
import { expect, it } from 'vitest'
import { detectLanguages } from '../../../src/embedded/analysis/detect-language.ts'
import { FUNCTION_WORDS } from '../../../src/embedded/analysis/function-words.ts'
import { findHeadings, indexWords } from '../../../src/embedded/analysis/index-words.ts'
import { splitWords } from '../../../src/embedded/analysis/split-words.ts'
import { stemWord } from '../../../src/embedded/analysis/stem-word.ts'

const folded = (text: string) => splitWords(text).map((word) => word.folded)

it('words are separated from versions, signs and other scripts', () => {
  expect(folded('python3.11-venv, v2.39.1 (libc.so.6) foo_bar 12:30')).toEqual([
    'python',
    '3.11',
    'venv',
    '2.39.1',
    'libc',
    'so',
    '6',
    'foo',
    'bar',
    '12',
    '30',
  ])
  expect(folded('使用Git管理')).toEqual(['使用', '用', 'git', '管理', '理'])
  expect(folded('Straße Ĳssel Ωδή ЙОД')).toEqual(['strasse', 'ijssel', 'ωδη', 'йод'])
})

it('a letter that folds to marks on a blank is no word', () => {
  expect(folded('\ufc5e The')).toEqual(['the'])
})

it('a word has its place in the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      for (const { source, start, end, isPair } of splitWords(text)) {
        if (isPair) expect(start).toBeLessThan(text.length)
        else expect(text.slice(start, end)).toBe(source)
      }
    }),
  )
})

it('every stemmer accepts any word', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }),
    fc.constantFrom('запрещена', 'leri', 'ίδιων', 'hyvät'),
  )
  fc.assert(
    fc.property(word, fc.constantFrom(...FUNCTION_WORDS.keys()), (each, language) => {
      expect(stemWord(each.toLowerCase(), language)).toMatch(new RegExp(`~${language}$`))
    }),
    { numRuns: 3_000 },
  )
})

it('an English stem that the text has as a word is indexed once', () => {
  const { body, forms } = indexWords('', 'The lantern hangs; lanterns were hanging in the libraries.', false)
  expect(body.split(' ')).toContain('lantern')
  expect(forms.split(' ')).toEqual(['hang~en', 'librari~en'])
})

it('a name with digits has no stem that is the name itself', () => {
  expect(indexWords('', 'Le fichier scan0012 est pour les ordinateurs x86.', false).forms).not.toMatch(/scan0012|x86/)
})

it('the language of a sentence is detected', () => {
  const languageOf = (text: string) => [...detectLanguages(splitWords(text)).values()].flat()[0]
  expect(languageOf('Die Katze liegt auf dem Sofa und schläft nicht.')).toBe('de')
  expect(languageOf('Le chat est sur la table et il ne dort pas.')).toBe('fr')
  expect(languageOf('El gato no está en la casa de mis padres.')).toBe('es')
  expect(languageOf('Мы не знаем, что это и как он там был.')).toBe('ru')
  expect(languageOf('Ми не знаємо, що це і як він там був.')).toBe('uk')
  expect(languageOf('zebra crossing')).toBe('en')
})

it('headings of Markdown, manuals and underlined ones are found', () => {
  const text = 'First line\n\n## Second\ntext\n\nThird\n-----\nmore text\nSEE ALSO\n  git(1)'
  expect(findHeadings(text, true).split('\n')).toEqual(['First line', 'Second', 'Third', 'SEE ALSO'])
  expect(findHeadings(text, false)).not.toContain('First line')
})

it('a long text without words of a language is taken for English', () => {
  const program = 'for (i = 0; i < a; i++) { e[i] = s.o(a, i, z, "https://k.com/v.com"); }\n'.repeat(10)
  expect([...detectLanguages(splitWords(program)).values()]).toEqual([['en']])
})

it('a text in Norwegian or Danish has the stems of the likelier one alone', () => {
  const text = 'Katten ligger under bordet og vil ikke ned, når hunden er der.'
  expect([...detectLanguages(splitWords(text)).values()]).toEqual([[expect.stringMatching(/^(?:no|da)$/)]])
})
