import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../temporary-library.ts'
import { describePlaces } from './describe-places.ts'
import { makeMsg } from './make-compound.ts'
import { makeOdf } from './office-files.ts'

const rtf = (body: string) => `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Arial;}}${body}\\par}`
const P = (text: string) => `<text:p>${text}</text:p>`
const odp = (page: string) => makeOdf('presentation', `<draw:page draw:name="page1">${page}</draw:page>`)
const frame = (text: string) => `<draw:frame><draw:text-box>${P(text)}</draw:text-box></draw:frame>`
const ods = (cell: string, more = '', name = 'Sheet') =>
  makeOdf(
    'spreadsheet',
    `<table:table table:name="${name}">${more}<table:table-row><table:table-cell>${cell}</table:table-cell></table:table-row></table:table>`,
  )
const NOTE = `<office:annotation>${P('heron')}</office:annotation>`

describe('text of further formats is found at its place, or what is passed over is named', () => {
  describePlaces('RTF', {
    'a.rtf in its body': rtf('heron'),
    'a.rtf in bold within': rtf('he{\\b r}on'),
    'a.rtf in a cell': rtf('\\trowd\\cellx2000\\cellx4000 heron\\cell x\\cell\\row'),
    'a.rtf in a footnote': rtf('x{\\super\\chftn}{\\footnote\\pard\\plain heron}'),
    'a.rtf in a header': rtf('{\\header\\pard heron\\par}x'),
    'a.rtf in a header of the first page': rtf('\\titlepg{\\headerf\\pard heron\\par}x'),
    'a.rtf in a footer': rtf('{\\footer\\pard heron\\par}x'),
    'a.rtf in a comment': rtf('x{\\*\\atnid A}{\\*\\atnauthor Ada}\\chatn{\\*\\annotation\\pard heron}'),
    'a.rtf in a text box': rtf('{\\shp{\\*\\shpinst{\\shptxt\\pard heron\\par}}}x'),
    'a.rtf in a text box that is drawn': rtf('{\\*\\do\\dobxpage\\dptxbx{\\dptxbxtext\\pard heron\\par}}x'),
    'a.rtf in the result of a field': rtf('{\\field{\\*\\fldinst HYPERLINK "http://a.example"}{\\fldrslt heron}}'),
    'a.rtf in bytes of its code page': rtf("\\'68eron"),
    'a.rtf in Unicode': rtf('\\u104?eron'),
    'a.rtf inserted': rtf('{\\revised heron}'),
    'a.rtf in a list': rtf('{\\listtext\\bullet\\tab}heron'),
    'a.rtf behind a table in a table': rtf(
      '\\trowd\\cellx4000\\pard\\intbl\\itap2 heron\\nestcell{\\*\\nesttableprops\\trowd\\cellx2000\\nestrow}x\\cell\\row',
    ),
    'a.rtf in an endnote': rtf('x{\\footnote\\ftnalt\\pard heron}'),
  })

  describePlaces('texts of OpenDocument', {
    'a.odt in its body': makeOdf('text', P('heron')),
    'a.odt in a heading': makeOdf('text', '<text:h text:outline-level="1">heron</text:h>'),
    'a.odt in spans': makeOdf('text', P('h<text:span>er</text:span>on')),
    'a.odt in a link': makeOdf('text', P('<text:a>heron</text:a>')),
    'a.odt in a list': makeOdf('text', `<text:list><text:list-item>${P('heron')}</text:list-item></text:list>`),
    'a.odt in a cell': makeOdf(
      'text',
      `<table:table><table:table-row><table:table-cell>${P('heron')}</table:table-cell></table:table-row></table:table>`,
    ),
    'a.odt in a header of a table': makeOdf(
      'text',
      `<table:table><table:table-header-rows><table:table-row><table:table-cell>${P('heron')}</table:table-cell></table:table-row></table:table-header-rows></table:table>`,
    ),
    'a.odt in a section': makeOdf('text', `<text:section>${P('heron')}</text:section>`),
    'a.odt in an index': makeOdf(
      'text',
      `<text:table-of-content><text:index-body>${P('heron')}</text:index-body></text:table-of-content>`,
    ),
    'a.odt in a footnote': makeOdf(
      'text',
      P(
        `x<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>${P('heron')}</text:note-body></text:note>`,
      ),
    ),
    'a.odt in a comment': makeOdf('text', P(`x${NOTE}`)),
    'a.odt in a text box': makeOdf('text', P(frame('heron'))),
    'a.odt in a shape': makeOdf('text', P(`<draw:custom-shape>${P('heron')}</draw:custom-shape>`)),
    'a.odt in a shape of a group': makeOdf('text', P(`<draw:g><draw:rect>${P('heron')}</draw:rect></draw:g>`)),
    'a.odt in a label of a picture': makeOdf(
      'text',
      P('x<draw:frame><draw:image/><svg:title>heron</svg:title></draw:frame>'),
    ),
    'a.odt in a description of a picture': makeOdf(
      'text',
      P('x<draw:frame><draw:image/><svg:desc>heron</svg:desc></draw:frame>'),
    ),
    'a.odt below a reading': makeOdf(
      'text',
      P('<text:ruby><text:ruby-base>heron</text:ruby-base><text:ruby-text>x</text:ruby-text></text:ruby>'),
    ),
    'a.odt in a reading': makeOdf(
      'text',
      P('<text:ruby><text:ruby-base>x</text:ruby-base><text:ruby-text>heron</text:ruby-text></text:ruby>'),
    ),
    'a.odt inserted': makeOdf('text', P('<text:change-start/>heron<text:change-end/>')),
    'a.odt in a field': makeOdf('text', P('<text:user-defined>heron</text:user-defined>')),
    'a.odt in a header': makeOdf('text', P('x'), '', {
      'styles.xml': master(`<style:header>${P('heron')}</style:header>`),
    }),
    'a.odt in a footer': makeOdf('text', P('x'), '', {
      'styles.xml': master(`<style:footer>${P('heron')}</style:footer>`),
    }),
    'a.odt in a chart': makeOdf('text', P('x<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'), '', {
      'Object 1/content.xml': `<office:document-content xmlns:office="o" xmlns:chart="c" xmlns:text="t"><chart:chart><chart:title>${P('heron')}</chart:title></chart:chart></office:document-content>`,
    }),
    'a.odt in a label of a form': makeOdf(
      'text',
      `<office:forms><form:form><form:fixed-text form:label="heron"/></form:form></office:forms>${P('x')}`,
    ),
    'a.odt in a value of a form': makeOdf(
      'text',
      `<office:forms><form:form><form:text form:current-value="heron"/></form:form></office:forms>${P('x')}`,
    ),
  })

  describePlaces('tables and slides of OpenDocument', {
    'a.ods in a cell': ods(P('heron')),
    'a.ods in the second paragraph of a cell': ods(`${P('x')}${P('heron')}`),
    'a.ods in a note': ods(`${NOTE}${P('x')}`),
    'a.ods in the name of a sheet': ods(P('x'), '', 'heron'),
    'a.ods in a text box': ods(P('x'), `<table:shapes>${frame('heron')}</table:shapes>`),
    'a.ods in a text box of a cell': ods(`${frame('heron')}${P('x')}`),
    'a.ods in a header': makeOdf(
      'spreadsheet',
      `<table:table><table:table-row><table:table-cell>${P('x')}</table:table-cell></table:table-row></table:table>`,
      '',
      { 'styles.xml': master(`<style:header>${P('heron')}</style:header>`) },
    ),
    'a.odp in a text': odp(frame('heron')),
    'a.odp in a shape': odp(`<draw:custom-shape>${P('heron')}</draw:custom-shape>`),
    'a.odp in a line': odp(`${frame('x')}<draw:line>${P('heron')}</draw:line>`),
    'a.odp in a group': odp(`<draw:g><draw:custom-shape>${P('heron')}</draw:custom-shape></draw:g>`),
    'a.odp in a table': odp(
      `<draw:frame><table:table><table:table-row><table:table-cell>${P('heron')}</table:table-cell></table:table-row></table:table></draw:frame>`,
    ),
    'a.odp in a note': odp(`${frame('x')}<presentation:notes>${frame('heron')}</presentation:notes>`),
    'a.odp in a comment': odp(`${frame('x')}${NOTE}`),
    'a.odp in a label of a picture': odp(
      `${frame('x')}<draw:frame><draw:image/><svg:title>heron</svg:title></draw:frame>`,
    ),
    'a.odp in a master page': makeOdf(
      'presentation',
      `<draw:page draw:master-page-name="m">${frame('x')}</draw:page>`,
      '',
      { 'styles.xml': master(frame('heron')) },
    ),
  })

  const attached = (properties: Readonly<Record<string, string | Buffer>>) => ({
    '__attach_version1.0_#00000000': {
      '__properties_version1.0': Buffer.alloc(8),
      ...Object.fromEntries(Object.entries(properties).map(([tag, value]) => [`__substg1.0_${tag}`, value])),
    },
  })
  const BODY = { '0037001F': 'Birds', '1000001F': 'A text' }
  describePlaces('messages of Outlook', {
    'a.msg in its subject': makeMsg({ ...BODY, '0037001F': 'heron' }),
    'a.msg in its text': makeMsg({ ...BODY, '1000001F': 'A heron' }),
    'a.msg in its page': makeMsg({ '0037001F': 'Birds', '10130102': Buffer.from('<p>A heron') }),
    'a.msg in its page beside a stub': makeMsg({ ...BODY, '10130102': Buffer.from('<p>A heron') }),
    'a.msg in formatted text alone': makeMsg({
      '0037001F': 'Birds',
      '10090102': Buffer.concat([packedHead('MELA'), Buffer.from('{\\rtf1 A heron}')]),
    }),
    'a.msg in the name of the sender': makeMsg({ ...BODY, '0C1A001F': 'Ada Heron heron' }),
    'a.msg in the name of a recipient': makeMsg(BODY, {
      '__recip_version1.0_#00000000': {
        '__properties_version1.0': Buffer.from('00000000000000000300150c000000000100000000000000', 'hex'),
        '__substg1.0_3001001F': 'heron',
        '__substg1.0_39FE001F': 'a@example.com',
      },
    }),
    'a.msg in an attachment': makeMsg(BODY, attached({ '3707001F': 'a.txt', '37010102': Buffer.from('A heron') })),
    'a.msg in an attachment without text': makeMsg(
      BODY,
      attached({ '3707001F': 'a.zip', '37010102': Buffer.from('PK\x05\x06heron\0') }),
    ),
  })

  describePlaces('recordings', {
    ...recorded('a.mp3 in a tag', ['-metadata', 'title=heron']),
    ...recorded('a.mp3 in another tag', ['-metadata', 'publisher=heron']),
    ...recorded('a.ogg in a tag', ['-metadata', 'artist=heron']),
    ...recorded('a.flac in lyrics', ['-metadata', 'lyrics=heron']),
    ...recorded('a.m4a in a description', ['-metadata', 'description=heron']),
    ...recorded('a.mka in a chapter', ['-i', 'a.txt', '-map_chapters', '1', '-map', '0:a']),
    ...recorded('a.mkv in subtitles', ['-i', 'a.srt', '-map', '0:a', '-map', '1']),
    ...recorded('a.mp4 in subtitles', ['-i', 'a.srt', '-map', '0:a', '-map', '1', '-c:s', 'mov_text']),
    ...recorded('a.webm in subtitles', [
      '-i',
      'a.srt',
      '-map',
      '0:a',
      '-map',
      '1',
      '-c:s',
      'webvtt',
      '-c:a',
      'libopus',
    ]),
    ...recorded('a.mkv in the title of a stream', ['-metadata:s:a:0', 'title=heron']),
  })
})

/** What comes before packed RTF. */
function packedHead(kind: string): Buffer {
  return Buffer.concat([Buffer.alloc(8), Buffer.from(kind, 'latin1'), Buffer.alloc(4)])
}

function master(content: string): string {
  return `<office:document-styles xmlns:office="o" xmlns:style="s" xmlns:text="t" xmlns:draw="d"><office:master-styles><style:master-page style:name="m">${content}</style:master-page></office:master-styles></office:document-styles>`
}

/** A recording of a second of sound that ffmpeg makes with these arguments. */
function recorded(place: string, args: readonly string[]): Readonly<Record<string, () => Buffer>> {
  const make = () => {
    needs('ffmpeg', 'ffprobe')
    const directory = temporaryDirectory()
    const [name = ''] = place.split(' ')
    writeFileSync(join(directory, 'a.srt'), '1\n00:00:00,100 --> 00:00:00,900\nheron\n')
    writeFileSync(join(directory, 'a.txt'), ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=heron\n')
    const sound = ['-f', 'lavfi', '-i', 'sine=duration=1:sample_rate=8000']
    execFileSync('ffmpeg', ['-v', 'error', '-nostdin', ...sound, ...args, name], { cwd: directory })
    return readFileSync(join(directory, name))
  }
  return { [place]: make }
}
