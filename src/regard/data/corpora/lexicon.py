"""The words of the built-in corpus: English and Chinese side by side, with what the grammar must know of each.

Tables are strings, one entry per `;`, so that a reader sees the words and not the constructors.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """A countable noun; `bare` ones take no 那 where English has *the* (狮子, but 那本书)."""

    en: str
    zh: str
    measure: str
    bare: bool = True
    plural: str = ""

    @property
    def many(self) -> str:
        return self.plural or plural(self.en)


@dataclass(frozen=True)
class Place:
    """A place, with the preposition English wants and the side-word (里, 上 or none) Chinese wants."""

    noun: Noun
    preposition: str
    side: str


@dataclass(frozen=True)
class Verb:
    """A verb; `zh_past` is what follows the subject when the deed is done (追赶 了)."""

    base: str
    past: str
    participle: str
    zh: str
    zh_past: str

    @property
    def third(self) -> str:
        return plural(self.base)


@dataclass(frozen=True)
class Adjective:
    """An adjective: `zh` after a noun (很 旧), `before` in front of one (旧 书; 红色 的 书)."""

    en: str
    zh: str
    before: str


@dataclass(frozen=True)
class Name:
    en: str
    zh: str
    he: bool


def plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def rows(table: str) -> Iterator[list[str]]:
    """Entries of a table; fields are apart by a comma, since a field may hold several words."""
    for entry in table.split(";"):
        if entry.strip():
            yield [field.strip() for field in entry.split(",")]


def nouns(table: str, *, bare: bool = True) -> tuple[Noun, ...]:
    return tuple(Noun(en, zh, measure, bare, *more) for en, zh, measure, *more in rows(table))


def places(table: str) -> tuple[Place, ...]:
    return tuple(Place(Noun(en, zh, measure), prep, "".join(side)) for en, zh, measure, prep, *side in rows(table))


def verbs(table: str) -> tuple[Verb, ...]:
    return tuple(Verb(*row) for row in rows(table))


def adjectives(table: str) -> tuple[Adjective, ...]:
    return tuple(Adjective(*row) for row in rows(table))


def pairs(table: str) -> tuple[tuple[str, str], ...]:
    return tuple((en, zh) for en, zh in rows(table))


NAMES = tuple(
    Name(en, zh, gender == "m")
    for en, zh, gender in rows(
        "Joe,乔,m; Anna,安娜,f; Tom,汤姆,m; Mary,玛丽,f; Peter,彼得,m; Lucy,露西,f; David,大卫,m; Emma,艾玛,f;"
        "Jack,杰克,m; Linda,琳达,f; Paul,保罗,m; Alice,爱丽丝,f"
    )
)
PRONOUNS = pairs("I,我; we,我们; he,他; she,她; they,他们")

ANIMALS = nouns(
    "lion,狮子,头; zebra,斑马,匹; tiger,老虎,只; wolf,狼,匹,wolves; fox,狐狸,只; dog,狗,条; cat,猫,只; horse,马,匹;"
    "cow,牛,头; goat,山羊,只; rabbit,兔子,只; monkey,猴子,只; snake,蛇,条; elephant,大象,头; duck,鸭子,只;"
    "frog,青蛙,只; pig,猪,头; chicken,鸡,只"
)
ROLES = nouns(
    "teacher,老师,位; doctor,医生,位; farmer,农民,位; student,学生,名; driver,司机,名; painter,画家,位; cook,厨师,名;"
    "nurse,护士,名; lawyer,律师,位; soldier,士兵,名; thief,小偷,个,thieves; tourist,游客,名; neighbour,邻居,位;"
    "singer,歌手,名; hunter,猎人,名; writer,作家,位"
)
FOLK = nouns("man,男人,个,men; woman,女人,个,women; boy,男孩,个; girl,女孩,个", bare=False)
PEOPLE = ROLES + FOLK

THINGS = nouns(
    "book,书,本; map,地图,张; chair,椅子,把; table,桌子,张; umbrella,雨伞,把; knife,刀,把,knives; pen,钢笔,支;"
    "pencil,铅笔,支; hat,帽子,顶; shirt,衬衫,件; jacket,夹克,件; skirt,裙子,条; scarf,围巾,条,scarves; lamp,灯,盏;"
    "camera,相机,台; computer,电脑,台; phone,手机,部; car,汽车,辆; bicycle,自行车,辆; ticket,票,张; painting,画,幅;"
    "key,钥匙,把; cup,杯子,个; bottle,瓶子,个; mirror,镜子,面; flute,长笛,支;"
    "guitar,吉他,把; vase,花瓶,个; rope,绳子,根; dictionary,词典,本",
    bare=False,
)
PACKABLE = nouns(
    "flute,长笛,支; guitar,吉他,把; umbrella,雨伞,把; camera,相机,台; jacket,夹克,件; dictionary,词典,本; lamp,灯,盏;"
    "computer,电脑,台; painting,画,幅; mirror,镜子,面; map,地图,张; rope,绳子,根"
)
CONTAINERS = nouns("bag,包,个; box,箱子,只; suitcase,手提箱,个; basket,篮子,只; drawer,抽屉,个; cupboard,柜子,个")
FOODS = pairs(
    "pizza,披萨; rice,米饭; meat,肉; bread,面包; cheese,奶酪; chocolate,巧克力; beef,牛肉; cake,蛋糕; salad,沙拉;"
    "noodles,面条; honey,蜂蜜; fruit,水果"
)
DRINKS = pairs("tea,茶; coffee,咖啡; milk,牛奶; juice,果汁; beer,啤酒; lemonade,柠檬水")
GROCERIES = nouns(
    "apple,苹果,个; egg,鸡蛋,个; banana,香蕉,根; pear,梨,个; tomato,西红柿,个; potato,土豆,个; watermelon,西瓜,个;"
    "lemon,柠檬,个; carrot,胡萝卜,根; peach,桃子,个,peaches",
    bare=False,
)

PLACES = places(
    "park,公园,座,in,里; museum,博物馆,座,in,里; school,学校,所,at; library,图书馆,座,in,里; hospital,医院,家,in,里;"
    "station,车站,座,at; market,市场,个,at; shop,商店,家,in,里; restaurant,餐厅,家,in,里; hotel,酒店,家,in,里;"
    "factory,工厂,家,in,里; church,教堂,座,in,里; garden,花园,座,in,里; kitchen,厨房,间,in,里; forest,森林,片,in,里;"
    "village,村庄,座,in,里; bridge,桥,座,on,上; square,广场,个,on,上; theatre,剧院,家,at; office,办公室,间,in,里;"
    "zoo,动物园,家,at; castle,城堡,座,in,里; temple,寺庙,座,in,里; farm,农场,座,on,上; airport,机场,座,at"
)
# one goes to or runs into a park, not a bridge
ENTERABLE = tuple(place.noun for place in PLACES if place.preposition != "on")
SIGHTS = tuple(
    place.noun
    for place in PLACES
    if place.noun.en
    in {"museum", "library", "church", "castle", "temple", "school", "zoo", "park", "village", "theatre"}
)
CROSSABLE = nouns(
    "street,街道,条; bridge,桥,座; square,广场,个; forest,森林,片; garden,花园,座; tunnel,隧道,条; yard,院子,个;"
    "hall,大厅,间; path,小路,条; playground,操场,个; corridor,走廊,条; field,田野,片"
)
CITIES = pairs(
    "Beijing,北京; Shanghai,上海; London,伦敦; Paris,巴黎; Tokyo,东京; Rome,罗马; Berlin,柏林; Moscow,莫斯科;"
    "Sydney,悉尼"
)
VEHICLES = pairs("train,火车; bus,公共汽车; plane,飞机; ship,船; taxi,出租车")

PAST_TIMES = pairs(
    "yesterday,昨天; this morning,今天早上; last night,昨天晚上; last week,上个星期; last month,上个月; last year,去年;"
    "last summer,去年夏天; last winter,去年冬天; on Monday,星期一; on Tuesday,星期二; on Wednesday,星期三;"
    "on Thursday,星期四; on Friday,星期五; on Saturday,星期六; on Sunday,星期日; at noon,中午; at midnight,半夜;"
    "in the afternoon,下午; in the evening,傍晚; two/n days/n ago/a,两天/n 前/a;"
    "three/n weeks/w ago/a,三个/n 星期/w 前/a; ten/n years/n ago/a,十年/n 前/a"
)
FUTURE_TIMES = pairs(
    "tomorrow,明天; next week,下个星期; next month,下个月; next year,明年; tonight,今晚; next summer,明年夏天;"
    "tomorrow morning,明天早上; next Monday,下星期一; next Friday,下星期五"
)
NUMBERS = pairs("two,两; three,三; four,四; five,五; six,六; seven,七; eight,八; nine,九; ten,十")
DURATIONS = pairs(
    "two/n hours/h,两个/n 小时/h; three days,三天; ten minutes,十分钟; half/n an hour/h,半个/n 小时/h;"
    "five/n weeks/w,五个/n 星期/w"
)
OFTEN = pairs("often,常常; always,总是; sometimes,有时; never,从不; usually,通常")

# Verbs whose doer and patient may change places: that is what who-chased-whom asks.
ANY_DEEDS = verbs(
    "chase,chased,chased,追赶,追赶 了; see,saw,seen,看见,看见 了; follow,followed,followed,跟踪,跟踪 了;"
    "find,found,found,找到,找到 了; hear,heard,heard,听见,听见 了; catch,caught,caught,抓住,抓住 了"
)
ANIMAL_DEEDS = verbs(
    "bite,bit,bitten,咬伤,咬伤 了; attack,attacked,attacked,攻击,攻击 了; scare,scared,scared,吓到,吓到 了"
)
PEOPLE_DEEDS = verbs(
    "help,helped,helped,帮助,帮助 了; invite,invited,invited,邀请,邀请 了; praise,praised,praised,表扬,表扬 了;"
    "recognise,recognised,recognised,认出,认出 了; blame,blamed,blamed,责备,责备 了; trick,tricked,tricked,欺骗,欺骗 了"
)
GETTING = verbs(
    "buy,bought,bought,买,买 了; sell,sold,sold,卖,卖 了; find,found,found,找到,找到 了; lose,lost,lost,弄丢,弄丢 了;"
    "borrow,borrowed,borrowed,借,借 了; choose,chose,chosen,挑选,挑选 了; draw,drew,drawn,画,画 了;"
    "bring,brought,brought,带来,带来 了; steal,stole,stolen,偷,偷 了; photograph,photographed,photographed,拍,拍 了"
)
EATING = verbs(
    "eat,ate,eaten,吃,吃 了; share,shared,shared,分享,分享 了; order,ordered,ordered,点,点 了;"
    "taste,tasted,tasted,尝,尝 了"
)
DRINKING = verbs("drink,drank,drunk,喝,喝 了; order,ordered,ordered,点,点 了; spill,spilled,spilled,洒,洒 了")
LIKING = verbs(
    "like,liked,liked,喜欢,喜欢; love,loved,loved,爱,爱; hate,hated,hated,讨厌,讨厌; want,wanted,wanted,想要,想要"
)

# base, past, gerund, Chinese, Chinese once done
DOING = verbs(
    "sleep,slept,sleeping,睡觉,睡 了 一觉; sing,sang,singing,唱歌,唱 了 歌; dance,danced,dancing,跳舞,跳 了 舞;"
    "cry,cried,crying,哭,哭 了; laugh,laughed,laughing,笑,笑 了; rest,rested,resting,休息,休息 了;"
    "work,worked,working,干活,干 了 活; read,read,reading,看书,看 了 书; run,ran,running,跑步,跑 了 步;"
    "walk,walked,walking,散步,散 了 步; paint,painted,painting,画画,画 了 画"
)

SIZES = adjectives("big,大,大; small,小,小; new,新,新; old,旧,旧")
COLOURS = adjectives(
    "red,红,红色 的; blue,蓝,蓝色 的; green,绿,绿色 的; black,黑,黑色 的; white,白,白色 的; yellow,黄,黄色 的"
)
LOOKS = adjectives("cheap,便宜,便宜 的; expensive,贵,昂贵 的; beautiful,漂亮,漂亮 的; strange,奇怪,奇怪 的")
ANIMAL_LOOKS = adjectives(
    "big,大,大; small,小,小; old,老,老; fat,胖,胖; black,黑,黑色 的; white,白,白色 的; brown,棕,棕色 的"
)
PERSON_LOOKS = adjectives(
    "young,年轻,年轻 的; kind,善良,善良 的; famous,有名,有名 的; clever,聪明,聪明 的; brave,勇敢,勇敢 的"
)
MOODS = pairs("tired,累; hungry,饿; thirsty,渴; happy,高兴; sad,难过; angry,生气; busy,忙; nervous,紧张")
DEGREES = pairs("fast,快; strong,强壮; tall,高; brave,勇敢; lazy,懒; young,年轻; quiet,安静")

# What only an animal, only a way, only the packed thing or only its container can be: this decides *it*.
CREATURE_ONLY = pairs("tired,累; hungry,饿; thirsty,渴; lazy,懒; weak,虚弱; nervous,紧张; shy,胆小")
WAY_ONLY = pairs("wide,宽; long,长; crowded,拥挤; dirty,脏; noisy,吵; dark,暗; slippery,滑")
PACKED_ONLY = pairs("big,大; heavy,重; thick,厚; wet,湿; hot,烫; fragile,脆弱")
CONTAINER_ONLY = pairs("small,小; narrow,窄; full,满; shallow,浅; thin,薄; torn,破")
SIGHT_ONLY = pairs("famous,有名; old,旧; beautiful,漂亮; quiet,安静; interesting,有意思; modern,现代")

UNBEARABLE = pairs(
    "noise,噪音; cold,寒冷; heat,炎热; pain,疼痛; smell,那 股 气味; silence,寂静; hunger,饥饿; loneliness,孤独;"
    "darkness,黑暗"
)
