import { dirname, join, resolve } from 'node:path'
import { expandHome } from '../../../../app/settings/config-file/find-config-file.ts'
import type { ChosenService } from '../../../../app/settings/config-file/render-config.ts'
import { messageOf } from '../../../../foundation/errors.ts'
import { parseOrigin } from '../../../../remote/client-options.ts'
import { checkDraft, errorOfFailure } from './check-draft.ts'
import { draftOf, givenUrl, openDoctorOn, type TypedToken, type Wizard } from './wizard.ts'

/** The service with a credential that it takes; the token is undefined when its file is there already. */
export interface CheckedService {
  readonly service: ChosenService
  readonly token: TypedToken | undefined
}

/** Asks where the files go; undefined for the library on this computer. */
export async function chooseService(wizard: Wizard): Promise<CheckedService | undefined> {
  const { flags, prompts, context } = wizard
  if (flags.embedded) return undefined
  const given = givenUrl(context)
  if (given === undefined && prompts) {
    const kind = await prompts.choose('Where do the files go?', [
      { value: 'service', label: 'a Knowledge Library Service', hint: 'its address and an access token are needed' },
      { value: 'embedded', label: 'the library on this computer', hint: 'nothing leaves it' },
    ])
    if (kind === 'embedded') return undefined
  }
  const service = await chooseAddress(wizard, given)
  return chooseCredential(wizard, service)
}

/** Asks for the address until a service answers there. */
async function chooseAddress(wizard: Wizard, given: string | undefined): Promise<ChosenService> {
  const { prompts, context } = wizard
  for (let typed = given; ; typed = undefined) {
    const answer = typed ?? (await prompts?.askText('Address of the service', ADDRESS)) ?? ''
    const service = {
      url: parseOrigin(answer),
      tokenFile: undefined,
      ...certificateFiles(context),
    }
    await using doctor = await openDoctorOn(wizard, draftOf(wizard, { service, mirrors: [] }, undefined))
    const failure = await checkDraft(wizard, doctor, ['configuration', 'proxy', 'certificate', 'service'])
    if (!failure) return service
    if (!prompts) throw errorOfFailure(failure)
  }
}

/** The files that flags name, for the configuration; from variables they come at each start. */
function certificateFiles({
  settingFlags,
  io,
}: Wizard['context']): Pick<ChosenService, 'caFile' | 'clientCertificate'> {
  const absolute = (file: string | undefined) => (file === undefined ? undefined : resolve(io.cwd, file))
  const certFile = absolute(settingFlags['client-cert-file'])
  const keyFile = absolute(settingFlags['client-key-file'])
  const passphraseFile = absolute(settingFlags['client-passphrase-file'])
  return {
    caFile: absolute(settingFlags['ca-file']),
    clientCertificate: certFile && keyFile ? { certFile, keyFile, passphraseFile } : undefined,
  }
}

const ADDRESS = {
  placeholder: 'https://library.example.com',
  validate: (text: string) => {
    try {
      parseOrigin(text)
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  },
}

/** Asks for the token until the service takes it. */
async function chooseCredential(wizard: Wizard, service: ChosenService): Promise<CheckedService> {
  const { prompts } = wizard
  for (let isFirst = true; ; isFirst = false) {
    const found = (isFirst ? givenCredential(wizard, service) : undefined) ?? (await askToken(wizard, service))
    const draft = draftOf(wizard, { service: found.service, mirrors: [] }, found.token)
    await using doctor = await openDoctorOn(wizard, draft)
    const failure = await checkDraft(wizard, doctor, ['credential'])
    if (!failure) return found
    if (!prompts) throw errorOfFailure(failure)
  }
}

/** The credential that a flag or a variable names. */
function givenCredential({ flags, context }: Wizard, service: ChosenService): CheckedService | undefined {
  const { env, cwd, home } = context.io
  if (env.SHELFD_TOKEN || env.SHELFD_TOKEN_FILE) return { service, token: undefined }
  if (flags.tokenFile === undefined) return undefined
  return { service: { ...service, tokenFile: resolve(cwd, expandHome(flags.tokenFile, home)) }, token: undefined }
}

async function askToken({ prompts, configFile, context }: Wizard, service: ChosenService): Promise<CheckedService> {
  const text = ((await prompts?.askSecret('Access token (from the Access Tokens page of the service)')) ?? '').trim()
  context.redactor.add(text)
  const file = join(dirname(configFile), 'token')
  return { service: { ...service, tokenFile: file }, token: { file, text } }
}
