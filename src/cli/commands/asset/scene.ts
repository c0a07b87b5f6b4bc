import { definePictureCommand } from './picture.ts'

export const command = definePictureCommand('scene')
