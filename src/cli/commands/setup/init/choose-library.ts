import type { DoctorContext } from '../../../../app/doctor/doctor-context.ts'
import { UsageError } from '../../../../foundation/errors.ts'
import { mayUpload } from '../../../../rules/mirrors.ts'
import { findLibrary } from '../../../../sync/pin/find-library.ts'
import type { Wizard } from './wizard.ts'

const NEW_LIBRARY = '(new)'

/** Asks for the library of the service, creates it if the user agrees, and returns its name. */
export async function chooseLibrary(wizard: Wizard, doctor: DoctorContext): Promise<string> {
  const { flags, prompts, context } = wizard
  const [client, access] = [await doctor.client(), await doctor.access()]
  if (flags.library !== undefined) {
    const found = await findLibrary({ client, access }, flags.library, context.signal)
    if (found) return flags.library
    if (flags.createLibrary) return createLibrary(doctor, wizard, flags.library)
    const way = '--create-library creates it'
    throw new UsageError('unknown-library', `There is no library "${flags.library}"; ${way}`)
  }
  if (!prompts) throw new UsageError('bad-usage', 'Cannot ask for the library without a terminal: give --library')
  const usable = access.libraries.filter((library) => mayUpload(library, access))
  const canCreate = access.abilities.includes('library.create')
  const choices = [
    ...usable.map(({ id, name, access: rights }) => ({ value: id, label: name, hint: rights.join(', ') })),
    ...(canCreate ? [{ value: NEW_LIBRARY, label: 'a new library' }] : []),
  ]
  if (choices.length === 0) {
    throw new UsageError('unknown-library', 'The credential may not add to any library, and may not create one')
  }
  const chosen = await prompts.choose('Which library?', choices)
  if (chosen === NEW_LIBRARY) return createLibrary(doctor, wizard, await prompts.askText('Name of the new library'))
  const names = usable.map(({ name }) => name)
  const name = usable.find(({ id }) => id === chosen)?.name ?? chosen
  return names.filter((other) => other === name).length > 1 ? chosen : name
}

async function createLibrary(doctor: DoctorContext, { context }: Wizard, name: string): Promise<string> {
  const { name: created } = await (await doctor.client()).createLibrary(name, null, context.signal)
  context.printMessage(
    `Created the library "${created}". Creating it gives no right to it: the token may need one more.`,
  )
  return created
}
