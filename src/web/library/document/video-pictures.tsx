import { useState } from 'preact/hooks'
import { useAction } from '../../common/loaded.tsx'
import { Notice } from '../../common/notice.tsx'
import { useSession } from '../session.ts'

interface VideoPicturesProps {
  readonly asset: string
  readonly seconds: number
  onSeconds(seconds: number): void
}

interface Picture {
  readonly address: string
  readonly label: string
}

const CANNOT = 'The library cannot make this picture now. It needs the program ffmpeg, and makes a few at a time.'

/** The frame that a video shows at a moment, and the five frames of the scene around it, made by the library. */
export function VideoPictures({ asset, seconds, onSeconds }: VideoPicturesProps) {
  const { api } = useSession()
  const [picture, setPicture] = useState<Picture | undefined>()
  const [isBroken, setIsBroken] = useState(false)
  const { failure, run: show } = useAction(async (representation: 'frame' | 'scene') => {
    setIsBroken(false)
    setPicture(undefined)
    const address = await api.viewPicture(asset, { representation, seconds }, AbortSignal.timeout(20_000))
    setPicture({ address, label: `${representation === 'frame' ? 'Frame' : 'Scene'} at ${seconds} s` })
  })
  const said = isBroken ? CANNOT : failure
  return (
    <section class="pictures" aria-label="Pictures of the video">
      <div class="actions">
        <label>
          At second{' '}
          <input
            type="number"
            min={0}
            step={0.1}
            value={seconds}
            onInput={({ currentTarget }) => onSeconds(currentTarget.valueAsNumber || 0)}
          />
        </label>
        <button type="button" onClick={() => show('frame')}>
          Show the frame
        </button>
        <button type="button" onClick={() => show('scene')}>
          Show the scene
        </button>
      </div>
      {said !== '' && <Notice tone="problem">{said}</Notice>}
      {picture && <img src={picture.address} alt={picture.label} onError={() => setIsBroken(true)} />}
    </section>
  )
}
