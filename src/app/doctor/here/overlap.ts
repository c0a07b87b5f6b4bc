import { ok } from '../../../rules/doctor/finding.ts'
import { chooseForDaemon } from '../../mirrors/choose-mirrors.ts'
import type { Check } from '../check.ts'
import { knownMirrors, rosterOf } from '../roster.ts'
import { given } from '../unchecked.ts'

/** Whether no file belongs to two mirrors, which would send it twice. */
export const overlap: Check = {
  name: 'overlap',
  run: async (context) => {
    await given(rosterOf(context), 'mirrors')
    const known = await knownMirrors(context)
    const { mirrors } = chooseForDaemon(await context.settings(), { known, home: context.home })
    return mirrors.length < 2 ? [] : [ok('no mirror lies in another')]
  },
}
