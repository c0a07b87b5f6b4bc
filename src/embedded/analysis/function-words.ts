/** The commonest words that have no meaning by themselves. Language detection counts them, and searches ignore them. */
const LISTS = {
  en: `a about after all also an and any are as at be because been before but by can could did do does for from get had has have
    he her his how i if in into is it its me my no not of on or our over she should so some such than that the their them then
    there these they this those to up was we were what when where which while who whom whose why will with would you your am
    being between doing having him might must shall us`,
  de: `aber alle als also am an auch auf aus bei bin bis das dass dem den der des die dies diese dieser doch durch ein eine einem
    einen einer eines er es für gegen hat haben ich ihr im in ist jede jeder kann kein keine man mit nach nicht noch nur oder
    ohne sein seine seiner sich sie sind so soll über um und uns unter vom von vor war was wenn werden wer wie wir wird zu zum
    zur wo wann warum wieso weshalb welche welcher welches welchem welchen wem wen wessen woher wohin womit wurde wurden wieviel`,
  fr: `à au aux avec ce ces cette comme comment dans de des du elle en est et être eux il ils je la le les leur leurs lui mais
    même ne nous on ou où par pas plus pour qu que quel quelle qui quoi sa sans se ses si son sont sous sur tous tout toute un
    une vous a été quels quelles lequel laquelle lesquels lesquelles quand pourquoi combien cet étaient était ont fut dont entre
    ceux celle`,
  es: `a al como con cómo cuál cuando de del desde donde el ella en entre era es esta este esto están ha hay la las le les lo los
    más me mi muy no nos o para pero por porque que qué quien se ser si sin sobre son su sus también tiene toda todo todos un una
    y cuáles cuánto cuánta cuántos cuántas dónde cuándo quiénes fue`,
  it: `a ad ai al alla alle anche che chi ci come con cosa da dal dalla degli dei del della delle dello di dove e è ed gli ha
    hanno i il in la le lo ma nel nella non o ogni per perché più quale quando quello questa questo se senza si sono su sua sue
    sui suo tra un una uno quali quanto quanta quanti quante fu era`,
  pt: `a ao aos as às até com como da das de do dos e é ela ele em entre era essa esse esta este eu foi há isso já la mais mas
    mesmo na não nas no nos o onde os ou para pela pelo por quais qual quando que quem se sem ser seu sua são sobre também tem
    toda todo um uma quanto quanta quantos quantas foram`,
  nl: `aan al als bij dan dat de deze die dit door een eens en er geen had heb heeft het hij hoe ik in is je kan maar meer men
    met mijn naar niet nog of om onder ons ook op over te tegen tot uit van veel voor waar was wat we wel werd wie wij wordt
    worden zal ze zich zij zijn zo zonder waarom wanneer welk welke hoeveel wiens waarin waarmee`,
  sv: `alla allt att av de dem den denna det detta du där efter ej eller en ett för från genom ha han har hon hur i icke in inom
    inte ja jag kan man med men mot mycket när och om på samt sig sin sina skall som så till under upp ur utan vad var vara vem
    vi vid är vilken vilket vilka varför vems vilkas`,
  da: `af alle at blev da de den denne der deres det dette du efter eller en end er et for fra ham han har hun hvad hvem hvis
    hvor hvordan i ikke ind jeg kan man med meget men mod nogen når og også om op over på sig sin skal som så til ud uden under
    var ved vi vil være hvilken hvilket hvilke hvorfor hvornår andre anden bare blevet både disse fordi gennem havde mange mellem
    mere måtte nogle noget selv skulle ville været`,
  no: `alle at av ble bli da de den denne der deres det dette du eller en enhver er et etter for fra ha han har hun hva hvem hvor
    hvordan i ikke jeg kan man med meg men mot når og også om opp på seg sin skal som så til under uten ut var ved vi vil være
    hvilken hvilket hvilke hvorfor hvis andre annen annet bare blir blitt både dem disse enn fordi gjennom hadde inn mange mellom
    mer måtte noen noe over selv skulle slik ville vært`,
  fi: `ei eivät että ennen he hän hänen ja jo jokaisella joka jonka jos jotka kaikki kanssa koska kuin kuka mikä missä miten mitä
    mukaan muut mutta myös ne niin niiden nyt oli olla olemaan on ovat se sekä sen siitä sitä tai tämä vain ilman milloin miksi
    kuinka mistä mihin kenen keitä minkä mitkä montako`,
  hu: `a az azt be csak de egy egyik el ellen és ez ezt ha hanem hogy hogyan ki kell legyen lehet meg mely mert mi mint mit
    minden nem ne nincs õ ő ők olyan pedig sem sok szerint úgy vagy van voltak való mindenki miért mikor hol hány melyik milyen
    hova honnan mennyi`,
  ro: `a acest acesta această ai al ale am ar are au ca care ce cea cel cu cum de din după ea ei el este eu face fi fie fără în
    într la lor lui mai nu o ori orice pe pentru poate prin sa sau se să său sunt și toate un una unde unei unui când cine câte
    cât câți`,
  tr: `ama bir bu bunu çok da daha de değil diye gibi hem her hiç için ile ise kadar ki mi mı mu mü nasıl ne neden nerede o olan
    olarak olduğu şu var ve veya ya yok herkesin hakkı nedir kim kimdir hangi hangisi kaç niçin nereden nereye nerededir midir
    mıdır kimin`,
  pl: `a aby ale bez być był co czy dla do gdy gdzie i ich ile jak jako jest jego jej każdy kto która które który lub ma mają
    może na nad nie nim o od oraz po pod przed przez przy są się ta tak te tego to tych tylko w we z za ze że jaki jaka jakie
    jakiej kiedy dlaczego kogo komu czym skąd dokąd`,
  cs: `a aby ale ani bez být byl co do i jak jako je jeho její jen ji jsou k kde kdo kdy každý která které který má mají mezi na
    nad nebo než není o od po pod podle pro proti před při s se si své svého ta tak také to v ve z za že jaký jaká jaké kolik
    proč čím koho odkud kam`,
  id: `ada adalah akan antara atas atau bagi bahwa dalam dan dapat dari dengan di harus ini itu juga karena ke kepada oleh pada
    para saja sebagai semua seperti setiap sudah telah tidak untuk yang apa apakah siapa siapakah kapan mengapa kenapa bagaimana
    mana dimana berapa`,
  ru: `без более бы был была были было быть в во вы где да для до его ее если есть же за и из или им их к как какой когда кто ли
    между мы на над не него нет ни но о об он она они от по под при с со так также то того только у чего что чтобы это я какая
    какое какие каком какого почему зачем сколько чей куда откуда кого`,
  uk: `або але без більше бути був була були в вона вони від до для його за з зі й і із їх її як який коли кожна кожний кожен
    людина має може на не ні о об по при про та також так то у це чи що щоб є яка яке які якого чому скільки куди звідки кого`,
  bg: `без в във върху всеки да до за и или има към като кой която което които който или му на не него нея ни но от по под при с
    са се си след срещу съм със то тази това тези тя че ще я е какво какъв каква какви къде кога защо колко кое кои кого`,
  el: `αλλά από αυτή αυτό αυτός για δεν είναι ένα ένας έχει ή η θα και κάθε με μη να ο οι όλα όπως που προς σε στη στην στις στο
    στον τα τη την της τι τις το τον του τους των χωρίς ως ποιος ποια ποιο ποιοι ποιες πού πότε γιατί πώς πόσο πόσα πόσοι τίνος`,
  ar: `أن أو أي إلى إن التي الذي الذين ان بين حتى ذلك عن على عند غير في قد كان كل كما لا لم له ما مع من منها هذا هذه هل هو هي و
    ماذا متى أين كيف لماذا كم أية`,
  he: `אבל או אותו אין איך אל אם את גם הוא היא הם זה זו יש כי כל לא לו מה מי על עם של שהוא מתי איפה למה איזה איזו כמה מדוע היכן`,
  hi: `एक और का की के को को तथा नहीं ने पर भी में यह या वह से है हैं हो क्या किसी कैसे कब कहाँ क्यों कौन कितने कितना कितनी कौनसा
    किसने`,
} as const

export type Language = keyof typeof LISTS

export const FUNCTION_WORDS: ReadonlyMap<Language, ReadonlySet<string>> = new Map(
  languages().map((language) => [language, new Set(LISTS[language].split(/\s+/))]),
)

function languages(): Language[] {
  return Object.keys(LISTS).filter((name): name is Language => name in LISTS)
}

/** `word` is in lower case. */
export function isFunctionWord(word: string, language: Language): boolean {
  return FUNCTION_WORDS.get(language)?.has(word) ?? false
}
