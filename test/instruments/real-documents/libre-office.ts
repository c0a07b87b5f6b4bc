import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A document that LibreOffice opens and stores in another format, with a password where one is given. */
export interface Conversion {
  readonly from: string
  readonly to: string
  /** A name of LibreOffice's: what it stores the format by. */
  readonly filter: string
  readonly password?: string
}

/** Its program; Debian's packages libreoffice-writer-nogui, -calc-nogui and -impress-nogui have it. */
export const LIBRE_OFFICE = 'soffice'
const TIMEOUT_MS = 15 * 60_000

/** Runs all conversions in one LibreOffice with a profile of its own; returns those that it did not do. */
export function convertAll(conversions: readonly Conversion[]): Conversion[] {
  const profile = mkdtempSync(join(tmpdir(), 'office-profile-'))
  const run = (...args: readonly string[]) => {
    const installation = `-env:UserInstallation=${pathToFileURL(profile).href}`
    const options = ['--headless', '--norestore', installation, ...args]
    execFileSync(LIBRE_OFFICE, options, { stdio: 'ignore', timeout: TIMEOUT_MS })
  }
  try {
    // The first start fills the profile, and would replace our module.
    run('--terminate_after_init')
    writeFileSync(join(profile, 'user', 'basic', 'Standard', 'Module1.xba'), moduleOf(conversions))
    run('macro:///Standard.Module1.Main')
  } finally {
    rmSync(profile, { recursive: true, force: true })
  }
  return conversions.filter(({ to }) => !existsSync(to))
}

/** Its command line has no option for passwords, its Basic has. */
function moduleOf(conversions: readonly Conversion[]): string {
  const calls = conversions.map(
    ({ from, to, filter, password = '' }) =>
      `Store(${[pathToFileURL(from).href, pathToFileURL(to).href, filter, password].map(quoted).join(', ')})`,
  )
  const source = `${STORE}\nSub Main\n${calls.join('\n')}\nEnd Sub\n`.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const attributes =
    'xmlns:script="http://openoffice.org/2000/script" script:name="Module1" script:language="StarBasic"'
  return `<?xml version="1.0" encoding="UTF-8"?>\n<script:module ${attributes}>${source}</script:module>`
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** A PDF and the formats of Microsoft take their password in places of their own. What fails leaves no file. */
const STORE = `Sub Store(FromUrl As String, ToUrl As String, FilterName As String, Password As String)
  On Error Resume Next
  Dim Opening(0) As New com.sun.star.beans.PropertyValue
  Opening(0).Name = "Hidden"
  Opening(0).Value = True
  Dim Locked(1) As New com.sun.star.beans.PropertyValue
  Locked(0).Name = "EncryptFile"
  Locked(0).Value = True
  Locked(1).Name = "DocumentOpenPassword"
  Locked(1).Value = Password
  Dim Key(1) As New com.sun.star.beans.NamedValue
  Key(0).Name = "OOXPassword"
  Key(0).Value = Password
  Key(1).Name = "CryptoType"
  Key(1).Value = "Standard"
  Dim Storing(1) As New com.sun.star.beans.PropertyValue
  Storing(0).Name = "FilterName"
  Storing(0).Value = FilterName
  If Password <> "" And Right(FilterName, 10) = "pdf_Export" Then
    Storing(1).Name = "FilterData"
    Storing(1).Value = Locked()
  ElseIf Password <> "" And InStr(FilterName, "2007 XML") > 0 Then
    Storing(1).Name = "EncryptionData"
    Storing(1).Value = Key()
  ElseIf Password <> "" Then
    Storing(1).Name = "Password"
    Storing(1).Value = Password
  End If
  Document = StarDesktop.loadComponentFromURL(FromUrl, "_blank", 0, Opening())
  Document.storeToURL(ToUrl, Storing())
  Document.close(True)
End Sub
`
