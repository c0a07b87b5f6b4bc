import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type IndexedDocuments, indexDocuments } from './indexed-documents.ts'

/** Kind of probe, the text of a document, and a query that must find it. */
const PROBES: readonly (readonly [kind: string, text: string, query: string])[] = [
  ['plural, English', 'The zebras drink at dusk.', 'zebra'],
  ['singular, English', 'A single walrus was seen on the beach.', 'walruses'],
  ['singular that is its own stem, English', 'One pencil hangs above the door.', 'pencils'],
  ['stem, English', 'We were configuring the switches all night.', 'configuration'],
  ['past tense, English', 'The committee rejected every proposal.', 'rejecting'],
  ['possessive, English', 'The gardener’s tools are in the shed.', 'gardener tools'],
  ['British and American', 'The colourful lanterns', 'colourfully lantern'],
  ['plural with umlaut, German', 'Die Häuser am Fluss sind alt.', 'Haus'],
  ['case, German', 'Die Rechnung des Anwaltes liegt bei.', 'Anwalt'],
  ['compound by its end, German', 'Meine Krankenversicherung zahlt die Brille.', 'Versicherung'],
  ['compound by its beginning, German', 'Die Datenbankverbindung ist unterbrochen.', 'Datenbank'],
  ['ß', 'Die Hauptstraße ist gesperrt.', 'hauptstrasse'],
  ['ss for ß', 'Wir treffen uns im Schlosspark, Grossmutter kommt mit.', 'Großmutter'],
  ['umlaut left out', 'Der Bürgermeister tritt zurück.', 'burgermeister'],
  ['umlaut as two letters', 'Der Kühlschrank brummt.', 'Kuehlschrank'],
  ['two letters for an umlaut', 'Herr Mueller hat angerufen.', 'Müller'],
  ['plural, French', 'Les journaux régionaux parlent du projet.', 'journal régional'],
  ['accents left out, French', 'La bibliothèque ferme à midi.', 'bibliotheque'],
  ['elision, French', "L'église du village est fermée.", 'eglise'],
  ['verb, French', 'Ils construisaient un pont sur la rivière.', 'construire pont'],
  ['plural, Spanish', 'Las canciones populares de mi abuela.', 'canción'],
  ['gender, Spanish', 'Los médicos cansados del hospital.', 'médicas cansadas'],
  ['tilde, Spanish', 'El año que viene iremos a España.', 'espana'],
  ['plural, Italian', 'I ragazzi giocano nel cortile con i palloni.', 'pallone ragazzo'],
  ['plural, Portuguese', 'As informações chegaram ontem com os jornais.', 'informação'],
  ['plural, Dutch', 'De fietsen staan voor de deur van het station.', 'fiets'],
  ['definite form, Swedish', 'Jag läser boken om fåglarna i skogen.', 'fågel skog'],
  ['definite form, Norwegian', 'Det er mange fjellene og bygdene i landet.', 'fjell bygd'],
  ['definite form, Danish', 'Vi så husene og haverne ved søen.', 'hus have'],
  [
    'definite form in a long question in Norwegian, of a text as Danish as Norwegian',
    'Det er mange takene i vest.',
    'Hva ble av taket etter 2101 2102 2103 2104 2105 2106 2107 2108 2109 2110 2111 2112?',
  ],
  ['case, Finnish', 'Asumme talossa järven rannalla.', 'talo'],
  ['case, Hungarian', 'A könyveket a táskában hagytam.', 'könyv táska'],
  ['case, Turkish', 'Kitapları masanın üzerinde bıraktım.', 'kitap'],
  ['dotless i, Turkish', 'Işık söndü ve kapı açıldı.', 'isik'],
  ['case, Polish', 'Czytam o starych zamkach i rycerzach.', 'stary zamek rycerz'],
  ['stroke and hook, Polish', 'Łódź jest dużym miastem.', 'lodz'],
  ['case, Czech', 'Bydlím ve starém městě u řeky.', 'město řeka'],
  ['article, Romanian', 'Am citit cărțile și ziarele de pe masă.', 'carte ziar'],
  ['case, Russian', 'Мы говорили о новых книгах и писателях.', 'новая книга'],
  ['ё as е', 'Ёлка стоит в углу комнаты.', 'елка'],
  ['case, Ukrainian', 'Ми гуляли в старому парку біля озера.', 'старий парк озеро'],
  ['case, Greek', 'Οι δρόμοι της πόλης είναι στενοί.', 'δρόμος'],
  ['accents left out, Greek', 'Το λεωφορείο άργησε πάλι.', 'λεωφορειο'],
  ['article and plural, Arabic', 'قرأت في المكتبات القديمة كثيرا', 'مكتبة قديمة'],
  ['vowel points, Arabic', 'ذَهَبَ الوَلَدُ إلى المَدْرَسَةِ', 'المدرسة'],
  ['prefix, Hebrew', 'הילדים הלכו לבית הספר בבוקר', 'ילדים ספר'],
  ['plural, Hindi', 'मेज पर तीन किताबें रखी हैं', 'किताब'],
  ['Chinese without blanks', '这台服务器的数据库连接总是失败。', '数据库'],
  ['Chinese, two words', '我们昨天在北京的图书馆看到了他。', '北京 图书馆'],
  ['Japanese, mixed scripts', '昨日は新しいカメラを買いました。', 'カメラ'],
  ['half-width letters, Japanese', 'ﾃﾞｰﾀを保存する', 'データ'],
  ['Korean with a particle', '오늘은 도서관에서 책을 읽었다.', '도서관'],
  ['Korean, other particle', '비행기가 공항에 도착했다.', '비행기를'],
  ['Thai without blanks', 'วันนี้อากาศร้อนมากที่กรุงเทพ', 'อากาศร้อน'],
  ['beginning of the last word', 'The thermostat regulates the temperature.', 'temperature thermos'],
  ['typo: swapped letters', 'The giraffe stretched its neck.', 'girafef'],
  ['typo: missing letter', 'A crocodile slept near the bank.', 'crocdile'],
  ['typo: wrong letter', 'The umbrella stood in the corner.', 'umbrelka'],
  ['phrase', 'to seek out strange new worlds', '"strange new worlds"'],
  ['hyphen left out', 'Send it by e-mail before noon.', 'email noon'],
  ['hyphen added', 'The cooperation of both towns', 'co-operation towns'],
  ['number of a book without hyphens', 'ISBN 978-3-16-148410-0 is out of print.', '9783161484100'],
  ['number of a book with hyphens', 'Order 9780306406157 by Friday.', '978-0-306-40615-7'],
  ['hyphen before digits left out', 'The droid FN-2187 ran away.', 'FN2187'],
  ['hyphen before digits added', 'Saved as koi8 text.', 'KOI-8'],
  ['thousands without commas', 'The fee was 7,654.32 in total.', '7654.32'],
  ['thousands with commas', 'The rent was 8765.43 a year.', '8,765.43'],
  ['broken at the end of a line', 'The steamers of the Donauschiff-\nfahrt leave at noon.', 'Donauschifffahrt'],
  ['one part of a compound', 'Filmen kom i 1979 og het Alien.', 'Når er Alien-serien fra?'],
  ['article before an apostrophe', 'Chaque horloge sonne.', "l'horloge"],
  ['parts of an identifier', 'function parseUserAgent(header) {}', 'user agent parse'],
  ['full-width letters', 'Ｆｕｌｌｗｉｄｔｈ ｔｅｘｔ', 'fullwidth'],
  ['ligature', 'The eﬃcient oﬃce', 'efficient office'],
  ['Roman letters in capitals', 'NASA LAUNCHED A ROCKET', 'rocket launch'],
  ['version with a name', 'Upgrade notes for libfoo 4.17.2', 'libfoo 4.17'],
]

describe('word forms', () => {
  let index: IndexedDocuments
  // Named by numbers, so that only their texts are found.
  beforeAll(() => {
    index = indexDocuments(PROBES.map(([, text], number) => ({ name: `${number}`, text })))
  })
  afterAll(() => index[Symbol.dispose]())
  it.each(PROBES.map((probe, number) => [...probe, number] as const))(
    'a search finds %s',
    (_kind, _text, query, number) => {
      expect(index.found(query)[0]).toBe(`${number}`)
    },
  )
})
